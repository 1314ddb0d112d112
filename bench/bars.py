"""What we want to reach, and how far it is: one table, so that nothing missed can hide in the others."""
import results
import workloads

OURS = "onnx-genai"


def content(name):
    return results.read(name)


def best_peer(name, field):
    """(figure, name) of the fastest that isn't ours."""
    of = content(name)
    peers = [a for a in results.arms(of) if not a.startswith(OURS) and results.values(of, a, field)]
    return max(((results.median(of, a, field), a) for a in peers), default=(None, None))


def beside_peers(name, field, bar, unit="tok/s"):
    ours, (theirs, peer) = results.median(content(name), OURS, field), best_peer(name, field)
    if not ours or not theirs:
        return None
    return f"{ours:,.0f} {unit}, {peer} {theirs:,.0f}", f"{ours / theirs:.2f} ×", f"≥ {bar} ×", ours / theirs >= bar


def share_of_read(name, bar=0.85):
    speed, limit = results.median(content(name), OURS, "decode"), results.median(content(name), "memory read", "read")
    if not speed or not limit:
        return None
    share = speed * content(name)["bytes_per_token"] / limit
    return f"{speed:.1f} tok/s", f"{share:.0%} of the read rate", f"≥ {bar:.0%}", share >= bar


def second_start(limit_ms=300):
    wall = results.median(content("start.second"), OURS, "wall_ms")
    return wall and (f"{wall:.0f} ms", f"{wall:.0f} ms", f"≤ {limit_ms} ms", wall <= limit_ms)


def memory(name):
    peak, bound = (results.median(content(name), OURS, f) for f in ("peak_rss_bytes", "memory_bound_bytes"))
    if not peak or not bound:
        return None
    return (f"{peak / 2**20:.0f} MiB", f"{peak / bound:.2f} × 1.1 × packed weights + cache in use + 64 MiB", "≤ 1 ×",
            peak <= bound)


def gap(bar=3):
    quiet, late = (results.median(content("intrude"), OURS, f) for f in ("quiet_gap_ms", "gap_p99_ms"))
    return quiet and (f"{late:.0f} ms, {quiet:.1f} when quiet", f"{late / quiet:.1f} ×", f"≤ {bar} ×", late <= bar * quiet)


def rows():
    """(what, outcome or None when it wasn't measured)."""
    titles = {w.name: w.title for w in workloads.table()}
    for name in ("one.1t", "one.2t"):
        yield f"decode, {titles[name]}", beside_peers(name, "decode", 1.5)
    for model in ("1B", "7B"):
        for threads in (1, 2):
            name = f"size.{model}.{threads}t"
            yield f"decode, {titles[name]}", share_of_read(name)
    for name in ("one.1t", "one.2t", "prompt.1t", "prompt.2t"):
        what = "prefill 512" if name.startswith("one") else "prefill 4,096"
        yield f"{what}, {name[-2]} thread{'s' * (name[-2] == '2')}", beside_peers(name, "prefill", 2)
    for name in ("server.8", "server.32"):
        yield f"served: {titles[name]}", beside_peers(name, "output", 2)
    for name in ("streams.8", "streams.32"):
        yield f"in one process: {titles[name]}", beside_peers(name, "output", 2)
    yield "gap of a running answer beside a prompt of 7,000, 99 %", gap()
    yield "second start to the first token", second_start()
    yield "peak memory, one stream", memory("one.2t")
