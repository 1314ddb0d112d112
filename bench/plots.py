"""docs/plots/*.svg: how speed goes with context, streams and prompt length, one line per program."""
import machine
import results
import workloads

FOLDER = machine.ROOT / "docs/plots"
CURVES = {  # group: (what is on the x axis, which figure, title)
    "context": ("context, tokens", "decode", "Decoding one stream, tokens per second"),
    "width": ("streams", "decode", "Decoding many streams, tokens per second of all"),
    "length": ("prompt, tokens", "prefill", "Reading a prompt, tokens per second"),
}
COLOURS = {"onnx-genai": "#0b6e4f", "onnx-genai again": "#8fbfa9", "llama.cpp": "#c44536", "onnxruntime-genai": "#2b59c3",
           "openvino-genai": "#d68c1f", "reference": "#7a5195"}


def lines_of(group, field):
    """arm → [(x, lowest, median, highest)]"""
    lines = {}
    for workload in workloads.select([group]):
        content = results.read(workload.name)
        for arm in results.arms(content):
            if measured := results.values(content, arm, field):
                x = int(workload.name.rsplit(".", 1)[1])
                lines.setdefault(arm, []).append((x, min(measured), results.median(content, arm, field), max(measured)))
    return lines


def draw(group, x_label, field, title):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = group  # equal results make equal files
    from matplotlib import pyplot, ticker
    lines = lines_of(group, field)
    if not lines:
        return
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    for arm, points in lines.items():
        x, low, middle, high = zip(*points)
        colour = COLOURS.get(arm)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(x, middle, marker="o", markersize=3.5, linewidth=1.5, color=colour, label=arm)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({x for points in lines.values() for x, *_ in points}))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set(xlabel=x_label, title=title)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / f"{group}.svg", metadata={"Date": None})
    pyplot.close(figure)


def write():
    for group, (x_label, field, title) in CURVES.items():
        draw(group, x_label, field, title)
