"""Starts `onnx-genai serve` for a test and stops it; speaks plain HTTP to it.

    with Server(["--rows", "8"]) as server:
        status, body = server.post("/v1/completions", {"prompt": "a"})
"""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/fixtures/builder_llama_fp32"
DEMO = ROOT / "build/models/smollm2"


def program():
    """The built program: $ONNX_GENAI, or the newest of the build folders."""
    if os.environ.get("ONNX_GENAI"):
        return os.environ["ONNX_GENAI"]
    built = sorted(ROOT.glob("build/*/onnx-genai"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise SystemExit("onnx-genai isn't built")
    return str(built[-1])


def make_tiny_model(folder):
    """A model of 0.1 M random weights with a context of 8,192 tokens, whose vocabulary is the 256 bytes and some more."""
    shape = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 512, "max_position_embeddings": 8192}
    config = pathlib.Path(folder) / "shape.json"
    config.write_text(json.dumps(shape))
    model = pathlib.Path(folder) / "tiny"
    command = [program(), "import", "--random-weights", str(config), "--overwrite", "-o", str(model)]
    subprocess.run(command, check=True, capture_output=True)
    return model


class Server:
    def __init__(self, arguments=(), model=MODEL, tls=None):
        """`tls`: an ssl.SSLContext of the client's side, when the arguments turn TLS on."""
        self.arguments = [program(), "serve", str(model), "--port", "0", *map(str, arguments)]
        self.tls = tls

    def __enter__(self):
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise RuntimeError(f"the server did not start: {line}{self.process.stderr.read()}")
        self.url = line.split()[-1]
        self.address = urllib.parse.urlparse(self.url)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.code = self.process.wait(30)
        self.errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()

    def connect(self, timeout=60):
        host, port = self.address.hostname, self.address.port
        if self.tls:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, connection=None):
        own = connection is None
        connection = connection or self.connect()
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        text = response.read()
        if own:
            connection.close()
        kind = response.headers.get("Content-Type", "")
        return response.status, json.loads(text) if kind.startswith("application/json") else text.decode()

    def post(self, path, body, headers=None, connection=None):
        return self.request("POST", path, body, headers, connection)

    def get(self, path, headers=None):
        return self.request("GET", path, None, headers)

    def status(self):
        return self.get("/v1/status")[1]

    def complete(self, prompt, tokens, session=None, connection=None, **more):
        """A plain completion of exactly `tokens` tokens, the likeliest ones."""
        headers = {"X-Session-Id": session} if session else {}
        body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, **more}
        return self.post("/v1/completions", body, headers, connection)

    def is_idle(self, seconds=10):
        """Whether, within the time, no lease or row is held, nor a block where no session lives."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now = self.status()
            model = now["models"][0]
            held = model["kv"]["blocks_used"] - model["kv"]["blocks_cached"]
            blocks_back = held == 0 or now["sessions"]["live"] > 0
            if now["leases_held"] == 0 and model["rows_running"] == 0 and model["rows_waiting"] == 0 and blocks_back:
                return True
            time.sleep(0.05)
        return False

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def memory(self):
        """Resident anonymous memory in KiB, threads, open files."""
        fields = dict(
            line.split(":", 1) for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        )
        files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return int(fields["RssAnon"].split()[0]), int(fields["Threads"]), files
