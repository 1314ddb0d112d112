"""Include direction: a folder of src/ includes only what docs/architecture.md lets it."""
import re
from pathlib import Path

from .files import Tree, tracked

ALLOWED = {
    "base": [],
    "kernels": ["base"],
    "graph": ["base"],
    "onnx": ["graph"],
    "ops": ["graph", "kernels"],
    "passes": ["graph", "ops"],
    "exec": ["onnx", "ops", "passes"],
    "text": ["base"],
    "constrain": ["text"],
    "package": ["text", "graph"],
    "convert": ["onnx", "package"],
    "gen": ["exec", "constrain", "package"],
    "serve": ["gen"],
    "cli": ["serve", "convert"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.M)


def reachable(folder: str) -> set[str]:
    found = {folder}
    for below in ALLOWED[folder]:
        found |= reachable(below)
    return found


def problems(root: Path) -> list[str]:
    found = []
    for path in tracked(root, "src/**/*.h", "src/**/*.cc", "src/**/*.inc"):
        folder = path.relative_to(root).parts[1]
        if folder not in ALLOWED:
            found.append(f"{path.relative_to(root)}: the folder src/{folder} is not in the architecture")
            continue
        allowed = reachable(folder) | {"nxrt", "genai"}
        for other in INCLUDE.findall(path.read_text()):
            if other in ALLOWED and other not in allowed:
                found.append(f"{path.relative_to(root)}: includes {other}/, which {folder}/ may not")
    return found


def self_test() -> bool:
    with Tree({"src/base/a.cc": '#include "gen/engine.h"\n'}) as bad, Tree({"src/gen/a.cc": '#include "base/error.h"\n'}) as good:
        return len(problems(bad)) == 1 and not problems(good)
