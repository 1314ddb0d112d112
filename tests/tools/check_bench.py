"""The harness of bench/ on programs that are none: launches, rounds, what counts, tables, random GGUF files."""
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import launch  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402
import tables  # noqa: E402
import workloads  # noqa: E402
from job import Job, Unable  # noqa: E402
from peers import client, servers  # noqa: E402

PYTHON = sys.executable


class FakeArm:
    def __init__(self, name, speeds, others=0.0):
        self.name, self.speeds, self.others = name, list(speeds), others

    def run(self, job):
        if not self.speeds:
            raise Unable("worn out")
        return {"decode": self.speeds.pop(0), "others_cpus": self.others}


def workload():
    return workloads.Workload("fake", "a fake", Job("m", 1))


class Launch(unittest.TestCase):
    def test_reports_output_time_and_memory(self):
        text, values = launch.launch([PYTHON, "-c", "x = bytearray(80 << 20); print('hello')"])
        self.assertEqual(text, "hello\n")
        self.assertGreater(values["peak_rss_bytes"], 80 << 20)
        self.assertGreater(values["wall_ms"], 0)

    def test_says_why_a_program_failed(self):
        with self.assertRaisesRegex(Unable, "no such model"):
            launch.launch([PYTHON, "-c", "import sys; sys.exit('no such model')"])

    def test_gives_up_on_a_late_program(self):
        with self.assertRaisesRegex(Unable, "more than 0.3 s"):
            launch.launch([PYTHON, "-c", "import time; time.sleep(60)"], limit_s=0.3)


class Rounds(unittest.TestCase):
    def setUp(self):
        self.real, run.wait_for_quiet = run.wait_for_quiet, lambda most: None

    def tearDown(self):
        run.wait_for_quiet = self.real

    def test_rotate_and_leave_out_who_is_unable(self):
        measured = run.measure(workload(), [FakeArm("a", [1, 2, 3]), FakeArm("b", [5])], 3)
        self.assertEqual([r["arm"] for r in measured], ["a", "b", "b", "a", "a"])
        self.assertEqual(measured[2]["unable"], "worn out")

    def test_launch_again_on_a_busy_machine(self):
        measured = run.measure(workload(), [FakeArm("a", [1, 2, 3], others=1.0)], 1)
        self.assertEqual(len(measured), 1)


class Figures(unittest.TestCase):
    def content(self, **arms):
        launches = [{"arm": arm.replace("_", "-"), "values": {"decode": speed, "others_cpus": others}}
                    for arm, measured in arms.items() for speed, others in measured]
        return {"launches": launches + [{"arm": "c", "unable": "it is not there"}]}

    def test_only_quiet_launches_count(self):
        content = self.content(a=[(10, 0.0), (99, 0.5), (20, 0.1)], b=[(7, 1.0)])
        self.assertEqual(results.values(content, "a", "decode"), [10, 20])
        self.assertEqual(results.values(content, "b", "decode"), [7])  # none was quiet
        self.assertEqual(results.refusal(content, "c"), "it is not there")

    def test_cells_and_ratios(self):
        content = self.content(onnx_genai=[(200, 0), (300, 0), (250, 0)], b=[(100, 0)])
        self.assertEqual(tables.cell(content, "onnx-genai", "decode"), "250 (200–300)")
        self.assertEqual(tables.ratio(content, "b", "decode"), "2.50")
        self.assertEqual(tables.ratio(content, "b", "decode", inverse=True), "0.40")
        self.assertEqual(tables.cell(content, "c", "decode"), "–")

    def test_names_select_groups(self):
        self.assertEqual([w.name for w in workloads.select(["one.2t"])], ["one.2t"])
        self.assertEqual(len(workloads.select(["one"])), 2)
        with self.assertRaises(SystemExit):
            workloads.select(["on"])

    def test_every_table_has_its_place(self):
        text = tables.DOCUMENT.read_text()
        for name in tables.TABLES:
            self.assertIn(f"<!-- bench:{name} -->", text)


class FakeServer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(json.dumps({"data": [{"id": "m"}]}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pieces = [{"choices": [{"text": "x"}]}] * body["max_tokens"]
        usage = {"prompt_tokens": 3, "completion_tokens": body["max_tokens"]}
        self.reply("".join(f"data: {json.dumps(p)}\n\n" for p in [*pieces, {"choices": [], "usage": usage}]) + "data: [DONE]\n\n")

    def reply(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


class Client(unittest.TestCase):
    def test_counts_the_pieces(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), FakeServer) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            replies = client.complete_all(server.server_address[1], ["a", "b"], 5)
            self.assertEqual([(len(r.arrivals), r.new_tokens, r.error) for r in replies], [(5, 5, "")] * 2)
            server.shutdown()

    def test_names_what_went_wrong(self):
        reply = client.Reply(error="404")
        with self.assertRaisesRegex(Unable, "404"):
            servers.expect_answers([reply])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results.FOLDER = pathlib.Path(folder)
        unittest.main()
