"""What was measured where: processor, limits, versions. Into results/machine.json, so that every speed has its limit."""
import json
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def limits(tool: pathlib.Path, threads) -> dict:
    """Read bandwidth and arithmetic per thread count, by bench/machine_limits.cc."""
    return json.loads(subprocess.run([tool, *map(str, threads)], capture_output=True, check=True, text=True).stdout)


def build_of_ours() -> str:
    """The last commit that changed the program, "-dirty" when its sources differ from that."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments, "--", "src"], capture_output=True, text=True).stdout.strip()

    commit = git("log", "-1", "--format=%h") or "unknown"
    return commit + ("-dirty" if git("status", "--porcelain") else "")


def processor_flags() -> list[str]:
    wanted = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16")
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    flags = next((line.split(":")[1].split() for line in lines if line.startswith("flags")), [])
    return [flag for flag in wanted if flag in flags]


def best_limits(now: list[dict], before: list[dict]) -> list[dict]:
    """Per thread count the highest that any run has seen: a shared host gives less at times, never more than it has."""
    known = {limit["threads"]: limit for limit in before}
    return [{key: max(value, known.get(limit["threads"], {}).get(key, 0)) for key, value in limit.items()} for limit in now]


def describe(tool: pathlib.Path, threads, before: dict) -> dict:
    about = limits(tool, threads)
    if before.get("cpu") == about["cpu"]:
        about["limits"] = best_limits(about["limits"], before["limits"])
    return about | {"flags": processor_flags(), "kernel": platform.release().split("-")[0]}
