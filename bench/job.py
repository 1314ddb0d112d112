"""What is measured in one launch of one program, and what comes back."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Job:
    """`streams` requests at once, each of `prompt` random tokens and `decode` new ones, on `threads` threads.

    decode 0: only the prompt counts. `model` is a key of models.Models.
    """
    model: str
    threads: int
    prompt: int = 512
    decode: int = 128
    streams: int = 1


# What a launch may report. A peer leaves out what it can't tell apart.
FIELDS = {
    "prefill": "prompt tokens of all streams ÷ time to the first token of the last stream, tokens/s",
    "decode": "tokens after the first, of all streams, ÷ the time in which they were made, tokens/s",
    "output": "all new tokens ÷ the whole time, prompts included, tokens/s",
    "first_ms": "request sent to its first token, median over requests",
    "gap_p50_ms": "between two tokens of a running stream while a long prompt comes in; gap_p99_ms, quiet_gap_ms alike",
    "read": "the memory's read rate, bytes/s",
    "load_ms": "loading the model inside the started program",
    "wall_ms": "process start to process end",
    "peak_rss_bytes": "peak resident memory of the process",
    "memory_bound_bytes": "ours: what the peak should stay below: 1.1 × packed weights, the cache's blocks in use, 64 MiB",
    "others_cpus": "CPUs that other processes and the host took meanwhile",
}


class Unable(Exception):
    """A program can't do a job; the text says why and goes into the tables."""
