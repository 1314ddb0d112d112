"""Peak resident memory stays within 1.1 × the packed weights + the cache in use + 64 MiB, whatever context is claimed.

    python tests/e2e/memory.py PROGRAM MODELS
"""
import sys

import support

MIB = 1 << 20
LONG_CONTEXT_KV = 16 * MIB  # for some hundred tokens in f16; the whole context would be 2.8 GiB


def check(report, program, folder, prompt):
    memory = support.generate(program, folder, prompt, 32)["memory"]
    peak, weights, kv = memory["peak_rss_bytes"], memory["weights_bytes"], memory["kv_bytes"]
    allowed = 1.1 * weights + kv + 64 * MIB
    report(peak <= allowed, f"{folder}, prompt of {len(prompt)}: peak {peak / MIB:.0f} MiB, allowed {allowed / MIB:.0f} "
           f"(weights {weights / MIB:.0f}, cache {kv / MIB:.1f})")
    return kv


def main():
    program, models = support.need(sys.argv[1]), sys.argv[2]
    report, prompts = support.Report(), sorted((c["prompt"] for c in support.golden_cases()), key=len)
    short, long = prompts[len(prompts) // 2], prompts[-1]
    for name in support.PACKAGES:
        for prompt in (short, long):
            check(report, program, support.need(f"{models}/{name}"), prompt)
    kv = check(report, program, support.need(f"{models}/long_context"), short)
    report(kv <= LONG_CONTEXT_KV, f"a short chat in a context of 128k tokens takes {kv / MIB:.1f} MiB of cache")
    report.finish()


if __name__ == "__main__":
    main()
