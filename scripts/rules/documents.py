"""What the documents say exists: environment variables, links, the map of folders."""
import re
from pathlib import Path

from .files import Tree, tracked

README_LINES = 120


def environment(root: Path) -> list[str]:
    env, configuration = root / "src/base/env.cc", root / "docs/configuration.md"
    if not env.exists():
        return []
    read = set(re.findall(r'EnvVariable\{EnvName::\w+,\s*"(\w+)"', env.read_text()))
    documented = set(re.findall(r"^\| `(\w+)`", configuration.read_text(), re.M)) if configuration.exists() else set()
    found = [f"src/base/env.cc reads {name}, docs/configuration.md does not document it" for name in sorted(read - documented)]
    return found + [f"docs/configuration.md documents {name}, nothing reads it" for name in sorted(documented - read)]


def links(root: Path) -> list[str]:
    found = []
    for document in tracked(root, "*.md", "docs/**/*.md"):
        for link in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in link and not (document.parent / link).exists():
                found.append(f"{document.relative_to(root)} links to {link}, which does not exist")
    return found


def folder_map(root: Path) -> list[str]:
    readme = root / "README.md"
    if not readme.exists():
        return []
    text = readme.read_text()
    named = set(re.findall(r"^\| `src/(\w+)/`", text, re.M))
    there = {p.relative_to(root).parts[1] for p in tracked(root, "src/**/*.cc")}
    found = [f"README.md: the map of folders lacks src/{name}/" for name in sorted(there - named)]
    found += [f"README.md: the map of folders names src/{name}/, which does not exist" for name in sorted(named - there)]
    lines = text.count("\n")
    return found + ([f"README.md: {lines} lines, at most {README_LINES}"] if lines > README_LINES else [])


def suites(root: Path) -> dict[str, set[str]]:
    """folder/Suite → the names of its tests."""
    found: dict[str, set[str]] = {}
    for path in tracked(root, "tests/*/*.cc"):
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.M):
            found.setdefault(f"{path.parent.name}/{suite}", set()).add(name)
    return found


def named_tests(root: Path) -> list[str]:
    """Each test that the list of known faults names: `folder` Suite.Test, Suite.Test, or a Suite alone."""
    document = root / "docs/known_faults.md"
    if not document.exists():
        return []
    there, found = suites(root), []
    for row in re.findall(r"^\| .*", document.read_text(), re.M):
        folder = ""
        for code, suite, name in re.findall(r"`([^`]+)`|\b([A-Z]\w*)(?:\.([A-Z]\w*))?(?=[,;. )]|$)", row):
            if code.startswith("tests/") and not (root / code).exists():
                found.append(f"docs/known_faults.md names {code}, which does not exist")
            folder = (code if (root / "tests" / code).is_dir() else "") if code else folder
            if not folder or not (name or f"{folder}/{suite}" in there):
                continue
            if name not in there.get(f"{folder}/{suite}", set()) | {""}:
                found.append(f"docs/known_faults.md names the test {folder} {suite}.{name}, which does not exist")
    return found


def problems(root: Path) -> list[str]:
    return environment(root) + links(root) + folder_map(root) + named_tests(root)


def self_test() -> bool:
    env = 'EnvVariable{EnvName::a, "A", ""}, EnvVariable{EnvName::b, "B", ""}'
    readme = "[x](gone.md)\n| `src/nowhere/` | x |\n" + "\n" * README_LINES
    faults = "| F | x | `a` S.There, S.Gone; `b` T (case) |\n| F | x | `tests/a/b.py`, `b` S.There |\n"
    tests = {"tests/a/s_test.cc": "TEST_F(S, There) {\n", "tests/b/t_test.cc": "TEST(T, There) {\n"}
    with Tree({"src/base/env.cc": env, "docs/configuration.md": "| `A` | x |\n| `C` | x |\n", "README.md": readme,
               "docs/known_faults.md": faults, **tests}) as bad:
        return len(problems(bad)) == 9
