"""Objects built with ISA flags define no weak symbol: an inline function compiled with -mavx512f could become the whole
program's copy of it, and crash on a CPU without AVX-512."""
import json
import shlex
import subprocess
import tempfile
from pathlib import Path

ISAS = ("avx2", "avx512", "vnni", "amx")


def weak(object_file: Path) -> list[str]:
    lines = subprocess.run(["nm", "--defined-only", "-C", str(object_file)], capture_output=True, text=True, check=True).stdout
    return [line for line in lines.split("\n") if len(line.split(None, 2)) == 3 and line.split(None, 2)[1] in "WVu"]


def problems(root: Path) -> list[str]:
    database = root / "build/dev/compile_commands.json"
    if not database.exists():
        return ["build/dev is not configured: run ./dev build first"]
    found = []
    for entry in json.loads(database.read_text()):
        source = Path(entry["file"])
        if not any(f"/kernels/{isa}/" in str(source) for isa in ISAS):
            continue
        with tempfile.NamedTemporaryFile(suffix=".o") as scratch:
            command = shlex.split(entry["command"])
            command[command.index("-o") + 1] = scratch.name
            subprocess.run(command, check=True, cwd=entry["directory"])
            found += [f"{source.relative_to(root)}: weak symbol {line.split(None, 2)[2]}" for line in weak(Path(scratch.name))]
    return found


def self_test() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "a.cc"), Path(folder, "a.o")
        source.write_text("inline int f() { return 1; }\nint (*g)() = f;\n")
        subprocess.run(["g++", "-O0", "-c", str(source), "-o", str(target)], check=True)
        return len(weak(target)) == 1
