"""What was measured where: processor, limits, versions. Into results/machine.json, so that every speed has its limit."""
import json
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def limits(tool: pathlib.Path, threads) -> dict:
    """Read bandwidth and arithmetic per thread count, by bench/machine_limits.cc."""
    return json.loads(subprocess.run([tool, *map(str, threads)], capture_output=True, check=True, text=True).stdout)


def build_of_ours() -> str:
    describe = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    done = subprocess.run(describe, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def processor_flags() -> list[str]:
    wanted = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16")
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    flags = next((line.split(":")[1].split() for line in lines if line.startswith("flags")), [])
    return [flag for flag in wanted if flag in flags]


def describe(tool: pathlib.Path, threads) -> dict:
    return limits(tool, threads) | {"flags": processor_flags(), "kernel": platform.release().split("-")[0], "load": os.getloadavg()[0]}
