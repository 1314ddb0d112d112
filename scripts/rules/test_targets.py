"""Every test source belongs to a target, and every source that must have a test has one."""
import re
from pathlib import Path

from .files import Tree, tracked


def problems(root: Path) -> list[str]:
    cmake = root / "tests/CMakeLists.txt"
    text = cmake.read_text() if cmake.exists() else ""
    modules = set(" ".join(re.findall(r"foreach\(module ([^)]*)\)", text)).split())
    found = []
    for path in tracked(root, "tests/**/*_test.cc"):
        parts = path.relative_to(root).parts
        if len(parts) != 3 or parts[1] not in modules:
            found.append(f"{path.relative_to(root)}: no target compiles it (tests/<folder>/*_test.cc, folder in tests/CMakeLists.txt)")
        elif not re.search(r"\bTEST(_P|_F)?\(|\bTYPED_TEST\(|RC_GTEST_PROP\(", path.read_text()):
            found.append(f"{path.relative_to(root)}: holds no test")
    return found


def self_test() -> bool:
    cmake = "foreach(module base)\n"
    with Tree({"tests/CMakeLists.txt": cmake, "tests/other/a_test.cc": "TEST(A, B)", "tests/base/b_test.cc": "int x;"}) as bad:
        return len(problems(bad)) == 2
