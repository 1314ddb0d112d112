"""clang-format leaves every file as it is."""
import shutil
import subprocess
from pathlib import Path

from .files import Tree, tracked

TOOL = "clang-format-19"
FOLDERS = ("src", "include", "tests", "fuzz", "bench")


def problems(root: Path) -> list[str]:
    files = [str(p) for folder in FOLDERS for p in tracked(root, f"{folder}/**/*.h", f"{folder}/**/*.cc")]
    if not files:
        return []
    result = subprocess.run([TOOL, "--dry-run", "--Werror", *files], capture_output=True, text=True)
    names = {line.split(":")[0] for line in result.stderr.split("\n") if "code should be clang-formatted" in line}
    return [f"{name}: not formatted (./dev fmt)" for name in sorted(names)]


def self_test() -> bool:
    with Tree({"src/a.cc": "int   x ;\n", ".clang-format": "BasedOnStyle: Google\n"}) as bad:
        return shutil.which(TOOL) is not None and len(problems(bad)) == 1
