"""The table of what is measured. A name is what `--only` selects; its part before the dot is a group."""
import dataclasses

from job import Job


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    title: str
    job: Job
    arms: tuple[str, ...] = ("ours", "null", "int16", "peers")  # which programs take part
    kind: str = "run"  # "start cold" and "start second": process start to first token; "serve", "intrude": servers


OURS_AND_LLAMA = ("ours", "null", "llama.cpp")


def with_threads(make):
    return [make(threads) for threads in (1, 2)]


def table():
    rows = []
    rows += with_threads(lambda t: Workload(f"one.{t}t", f"one stream, {t} thread{'s' * (t > 1)}",
                                            Job("smollm2", t, prompt=512, decode=128)))
    rows += with_threads(lambda t: Workload(f"demo.{t}t", f"one stream, {t} thread{'s' * (t > 1)}, the demo's own file",
                                            Job("demo", t, prompt=512, decode=128),
                                            ("ours", "null", "int16", "llama.cpp", "onnxruntime-genai")))
    rows += with_threads(lambda t: Workload(f"prompt.{t}t", f"a prompt of 4,096 tokens, {t} thread{'s' * (t > 1)}",
                                            Job("smollm2", t, prompt=4096, decode=0)))
    rows += [Workload(f"streams.{n}", f"{n} streams, 2 threads", Job("smollm2", 2, prompt=128, decode=64, streams=n))
             for n in (8, 32)]
    rows += [Workload(f"start.{what}", f"{what} start to the first token", Job("smollm2", 2, prompt=5, decode=1),
                      kind=f"start {what}") for what in ("cold", "second")]
    rows += [Workload(f"server.{n}", f"{n} request{'s' * (n > 1)} at once", Job("smollm2", 2, prompt=128, decode=64, streams=n),
                      kind="serve") for n in (1, 8, 32)]
    rows += [Workload("intrude", "a prompt of 7,000 tokens beside a running answer",
                      Job("smollm2", 2, prompt=7000, decode=800), kind="intrude")]
    for model in ("1B", "7B"):
        rows += with_threads(lambda t: Workload(f"size.{model}.{t}t", f"{model}, {t} thread{'s' * (t > 1)}",
                                                Job(model, t, prompt=16, decode=32), ("limit", *OURS_AND_LLAMA)))
    return rows


def curves():
    rows = [Workload(f"context.{n}", f"context {n}", Job("long", 2, prompt=n, decode=32), OURS_AND_LLAMA)
            for n in (128, 512, 2048, 8192, 16384, 32768)]
    rows += [Workload(f"width.{n}", f"{n} streams", Job("smollm2", 2, prompt=128, decode=32, streams=n),
                      OURS_AND_LLAMA + ("onnxruntime-genai", "openvino-genai")) for n in (1, 2, 4, 8, 16, 32, 64)]
    rows += [Workload(f"length.{n}", f"prompt of {n}", Job("smollm2", 2, prompt=n, decode=0),
                      OURS_AND_LLAMA + ("onnxruntime-genai", "openvino-genai"))
             for n in (16, 64, 256, 1024, 2048, 4096, 8000)]
    return rows


QUICK = ("one.2t", "streams.8", "start.second")


def select(patterns):
    """Those whose name is a pattern or lies below it; without patterns all."""
    rows = table() + curves()
    chosen = [w for w in rows if not patterns or any(w.name == p or w.name.startswith(p + ".") for p in patterns)]
    unknown = [p for p in patterns if not any(w.name == p or w.name.startswith(p + ".") for w in rows)]
    if unknown:
        groups = sorted({w.name.split(".")[0] for w in rows})
        raise SystemExit(f"bench: no workload {', '.join(unknown)}; there are {', '.join(groups)}")
    return chosen
