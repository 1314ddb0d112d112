"""This project's program: `onnx-genai bench`, and `generate` for the start."""
import json

from launch import launch


class Ours:
    def __init__(self, name, program, models, activations="int8", options=()):
        self.name, self.program, self.models, self.activations, self.options = name, program, models, activations, options

    def files(self, job):
        return list(self.models.package(job.model, self.activations).iterdir())

    def run(self, job):
        package = self.models.package(job.model, self.activations)
        text, measured = launch([self.program, "bench", package, "--prompt-tokens", job.prompt, "--decode-tokens",
                                 max(1, job.decode), "--streams", job.streams, "--threads", job.threads,
                                 "--repeat", 1, "--json", *self.options])
        report = json.loads(text)
        run, memory = report["runs"][0], report["memory"]
        timings, usage = run["timings"], run["usage"]
        measured |= {"load_ms": timings["load_ms"], "prefill": timings["prefill_tokens_per_second"]}
        measured["memory_bound_bytes"] = 1.1 * memory["weights_bytes"] + memory["kv_bytes"] + (64 << 20)
        if job.decode:
            measured |= {"decode": timings["decode_tokens_per_second"],
                         "output": usage["completion_tokens"] * 1e3 / run["wall_ms"]}
        return measured

    def start(self, job):
        package = self.models.package(job.model, self.activations)
        _, measured = launch([self.program, "generate", package, "--prompt", PROMPT, "--max-tokens", 1,
                              "--temperature", 0, "--threads", job.threads, *self.options])
        return measured


PROMPT = "The capital of France is"
