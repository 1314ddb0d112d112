"""Servers under the same requests: `streams` completions at once, or a long prompt that arrives beside a running answer."""
import contextlib
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from job import Unable
from launch import busy_seconds
from peers import client
from peers.llama_cpp import tools

START_LIMIT_S = 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port: int) -> bool:
    with contextlib.suppress(OSError, LookupError, ValueError):
        reply = client.Reply()
        client.complete(port, "Hello", 1, reply)
        return not reply.error
    return False


class Server:
    """`command(job, port)` starts it; `files(job)` are the model's, for whoever asks."""

    def __init__(self, name, command, env=lambda job: {}):
        self.name, self.command, self.env = name, command, env

    @contextlib.contextmanager
    def running(self, job):
        port = free_port()
        with tempfile.TemporaryFile() as log:
            child = subprocess.Popen([str(part) for part in self.command(job, port)], stdout=log, stderr=log,
                                     env=os.environ | self.env(job), start_new_session=True)
            try:
                deadline = time.monotonic() + START_LIMIT_S
                while not answers(port):
                    if child.poll() is not None or time.monotonic() > deadline:
                        raise Unable(f"the server did not answer within {START_LIMIT_S} s")
                    time.sleep(0.1)
                yield port, child.pid
            finally:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()

    def serve(self, job):
        with self.running(job) as (port, pid):
            self.round(port, job, seed=1)  # the warm-up
            return watched(pid, lambda: self.round(port, job, seed=1001))

    def round(self, port, job, seed):
        texts = [client.prompt(job.prompt, seed + i) for i in range(job.streams)]
        begin = time.monotonic()
        replies = expect_answers(client.complete_all(port, texts, job.decode))
        made = sum(reply.new_tokens or len(reply.arrivals) for reply in replies)
        return {"output": made / (time.monotonic() - begin),
                "first_ms": statistics.median(reply.first_ms() for reply in replies)}

    def intrude(self, job):
        """Gaps of one running stream: quiet, and while a prompt of `job.prompt` words arrives."""
        with self.running(job) as (port, pid):
            quiet = expect_answers(client.complete_all(port, [client.prompt(16, 1)], 64))[0]
            return watched(pid, lambda: gaps_beside(port, job, quiet))


def gaps_beside(port, job, quiet):
    running, started = client.Reply(), threading.Event()
    stream = threading.Thread(target=client.complete, args=(port, client.prompt(16, 2), job.decode, running, started))
    stream.start()
    started.wait(START_LIMIT_S)
    intruder = client.Reply()
    client.complete(port, client.prompt(job.prompt, 3), 1, intruder)
    stream.join()
    expect_answers([running, intruder])
    until = intruder.arrivals[0]
    beside = [(b - a) * 1e3 for a, b in zip(running.arrivals, running.arrivals[1:]) if b > intruder.sent and a < until]
    if len(beside) < 2:
        raise Unable("the running stream was over before the prompt had come in")
    return {"quiet_gap_ms": statistics.median(quiet.gaps_ms()), "gap_p99_ms": percentile(beside, 0.99),
            "gap_p50_ms": statistics.median(beside), "first_ms": intruder.first_ms()}


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def expect_answers(replies):
    for reply in replies:
        if reply.error or not reply.arrivals:
            raise Unable(reply.error or "an answer without text")
    return replies


def cpu_seconds(pid) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watched(pid, measure):
    """What `measure` gives, with what others took of the processor meanwhile and the server's peak memory."""
    used, own, busy, begin = cpu_seconds(pid), time.process_time(), busy_seconds(), time.monotonic()
    values = measure()
    mine = cpu_seconds(pid) - used + time.process_time() - own
    others = max(0.0, busy_seconds() - busy - mine) / (time.monotonic() - begin)
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    return values | {"others_cpus": others, "peak_rss_bytes": peak}


def make_servers(program, models):
    """name → server, or why there is none."""
    venv = pathlib.Path(sys.executable).parent

    def ours(job, port):
        return [program, "serve", models.package(job.model), "--port", port, "--threads", job.threads, "--rows", 64]

    def llama_server(job, port):
        streams = max(2, job.streams)
        tokens = streams * (job.prompt + job.decode + 32)
        return [tools() / "llama-server", "-m", models.gguf(job.model), "--port", port, "-t", job.threads, "-np", streams,
                "-c", tokens, "--no-webui"]

    def reference(job, port):
        return [venv / "onnx-genai", "serve", models.package(job.model), "--addr", f"127.0.0.1:{port}", "--max-batch", 64]

    servers = {"ours": Server("onnx-genai", ours), "null": Server("onnx-genai again", ours)}
    servers["llama.cpp"] = Server("llama.cpp", llama_server, lambda job: {"LD_LIBRARY_PATH": str(tools())})
    if (venv / "onnx-genai").exists():
        servers["reference"] = Server("reference", reference,
                                      lambda job: {"ONNX_GENAI_INTRA_OP_THREADS": str(job.threads)})
    return servers
