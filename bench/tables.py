"""The tables of docs/performance.md, between `<!-- bench:NAME -->` and `<!-- /bench -->`.

A cell is the median over launches, with its smallest and largest where there are several; a ratio divides medians.
"""
import re

import bars
import machine
import plots
import results
import workloads

DOCUMENT = machine.ROOT / "docs/performance.md"
OURS, NULL = "onnx-genai", "onnx-genai again"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(content, arm, field, scale=1.0) -> str:
    measured = [v * scale for v in results.values(content, arm, field)]
    if not measured:
        return "–"
    middle = results.median(content, arm, field) * scale
    spread = f" ({number(min(measured))}–{number(max(measured))})" if len(measured) > 1 else ""
    return number(middle) + spread


def ratio(content, arm, field, inverse=False) -> str:
    """Ours ÷ theirs: above 1 we are better. inverse: smaller is better."""
    ours, theirs = results.median(content, OURS, field), results.median(content, arm, field)
    if not ours or not theirs:
        return "–"
    return f"{theirs / ours if inverse else ours / theirs:.2f}"


def row(*cells) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def header(*cells) -> list[str]:
    return [row(*cells), "|" + "---|" * len(cells)]


def measured(group) -> list:
    return [w for w in workloads.select([group]) if results.read(w.name)["launches"]]


def speed_table(group, fields) -> list[str]:
    """One block of rows per workload; per field a column of speeds and a column of ours ÷ that row's."""
    columns = [c for field in fields for c in (f"{field}, tok/s", f"{OURS} ÷ it")]
    lines = header("", "", *columns)
    for workload in measured(group):
        content = results.read(workload.name)
        for i, arm in enumerate(results.arms(content)):
            if not any(results.values(content, arm, field) for field in fields):
                continue
            cells = [c for field in fields for c in (cell(content, arm, field), ratio(content, arm, field))]
            lines.append(row(workload.title if i == 0 else "", arm, *cells))
    return lines + refusals(group)


def start_table() -> list[str]:
    lines = header("", "", "process start to its end, ms", f"it ÷ {OURS}", "load, ms", "peak memory, MiB")
    for workload in measured("start"):
        content = results.read(workload.name)
        for i, arm in enumerate(results.arms(content)):
            if results.values(content, arm, "wall_ms"):
                lines.append(row(workload.title if i == 0 else "", arm, cell(content, arm, "wall_ms"),
                                 ratio(content, arm, "wall_ms", inverse=True), cell(content, arm, "load_ms"),
                                 cell(content, arm, "peak_rss_bytes", 2**-20)))
    return lines


def server_table() -> list[str]:
    lines = header("", "", "new tokens/s of all", f"{OURS} ÷ it", "first token, ms", "peak memory, MiB")
    for workload in measured("server"):
        content = results.read(workload.name)
        for i, arm in enumerate(results.arms(content)):
            if results.values(content, arm, "output"):
                lines.append(row(workload.title if i == 0 else "", arm, cell(content, arm, "output"),
                                 ratio(content, arm, "output"), cell(content, arm, "first_ms"),
                                 cell(content, arm, "peak_rss_bytes", 2**-20)))
    return lines + refusals("server")


def intrude_table() -> list[str]:
    lines = header("", "gap when quiet, ms", "beside the prompt: median", "99 %", "first token of the prompt, ms")
    for workload in measured("intrude"):
        content = results.read(workload.name)
        for arm in results.arms(content):
            if results.values(content, arm, "gap_p99_ms"):
                lines.append(row(arm, *(cell(content, arm, field) for field in ("quiet_gap_ms", "gap_p50_ms", "gap_p99_ms",
                                                                               "first_ms"))))
    return lines + refusals("intrude")


def refusals(group) -> list[str]:
    """Why some have no row."""
    notes = []
    for workload in measured(group):
        content = results.read(workload.name)
        for arm in results.arms(content):
            if (why := results.refusal(content, arm)) and not any("values" in l for l in content["launches"] if l["arm"] == arm):
                notes.append(f"{workload.title}, {arm}: {why}.")
    return [line for note in notes for line in ("", note)]


def memory_table() -> list[str]:
    lines = header("", "", "peak memory, MiB")
    for group in ("one.2t", "prompt.2t", "streams"):
        for workload in measured(group):
            content = results.read(workload.name)
            for i, arm in enumerate(results.arms(content)):
                if results.values(content, arm, "peak_rss_bytes"):
                    lines.append(row(workload.title if i == 0 else "", arm, cell(content, arm, "peak_rss_bytes", 2**-20)))
    return lines


def size_table() -> list[str]:
    lines = header("", "", "decode, tok/s", f"{OURS} ÷ it", "read, GB/s", "of the measured read rate")
    for workload in measured("size"):
        content = results.read(workload.name)
        for i, arm in enumerate(results.arms(content)):
            speed = results.median(content, arm, "decode")
            if speed:
                read = speed * content["bytes_per_token"]
                share = read / results.median(content, "memory read", "read")
                lines.append(row(workload.title if i == 0 else "", arm, cell(content, arm, "decode"),
                                 ratio(content, arm, "decode"), number(read / 1e9), f"{share:.0%}"))
            elif arm == "memory read":
                lines.append(row(workload.title if i == 0 else "", arm, "–", "–", cell(content, arm, "read", 1e-9), "100%"))
    return lines


def bars_table() -> list[str]:
    lines = header("what", "measured", "outcome", "wanted", "")
    for what, outcome in bars.rows():
        if outcome:
            *figures, reached = outcome
            lines.append(row(what, *figures, "reached" if reached else "**missed**"))
    return lines


def machine_text() -> list[str]:
    about = results.read("machine")
    lines = [f"{about['cpu']}, {about['allowed_cpus']} CPUs ({', '.join(about['flags'])}), Linux {about['kernel']}. "
             "Limits, the highest seen in any run:", ""]
    lines += header("threads", "memory read, GB/s", "AVX2 FMA, GFLOP/s", "AVX-512 FMA, GFLOP/s", "VNNI int8, GOP/s")
    for limit in about["limits"]:
        figures = (limit.get(key, 0) / 1e9 for key in ("read_bytes_per_second", "avx2_fma_flops", "avx512_fma_flops",
                                                       "vnni_int8_ops"))
        lines.append(row(limit["threads"], *(number(f) if f else "–" for f in figures)))
    lines += ["", "Peers: " + ", ".join(f"{name} {version}" for name, version in about["peers"].items()) + "."]
    lines += [f"Not measured: {name}: {why}." for name, why in about["missing"].items()]
    return lines


def plots_text() -> list[str]:
    there = [name for name in plots.CURVES if (plots.FOLDER / f"{name}.svg").exists()]
    if not there:
        return ["Not measured here yet: `./dev bench --only context width length`."]
    return [f"![{plots.CURVES[name][2]}](plots/{name}.svg)\n" for name in there]


TABLES = {
    "bars": bars_table,
    "machine": machine_text,
    "one": lambda: speed_table("one", ("prefill", "decode")),
    "demo": lambda: speed_table("demo", ("prefill", "decode")),
    "prompt": lambda: speed_table("prompt", ("prefill",)),
    "streams": lambda: speed_table("streams", ("decode", "output")),
    "size": size_table,
    "start": start_table,
    "server": server_table,
    "intrude": intrude_table,
    "memory": memory_table,
    "plots": plots_text,
}


def write():
    text = DOCUMENT.read_text()

    def filled(match):
        lines = TABLES[match[1]]()
        if len(lines) == len(header("")):
            lines = [f"Not measured yet: `./dev bench --only {match[1]}`."]
        return f"<!-- bench:{match[1]} -->\n" + "\n".join(lines) + "\n<!-- /bench -->"

    if results.path_of("machine").exists():
        DOCUMENT.write_text(re.sub(r"<!-- bench:(\w+) -->.*?<!-- /bench -->", filled, text, flags=re.S))
