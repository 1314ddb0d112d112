"""Rules that a look at the text can check: sizes, catch sites, environment reads, printing from libraries."""
import re
from pathlib import Path

from .files import Tree, tracked

MAX_LINES = 600
# The C API's edge, the engine's loop, the route dispatcher, what runs behind no request (serve/attempt), the program's main and its report of errors; yaml-cpp reports bad syntax by throwing only.
CATCH_ALLOWED = {"src/exec/c_api.cc", "src/gen/c_api.cc", "src/gen/engine_loop.cc", "src/serve/dispatch.cc", "src/serve/attempt.cc", "src/cli/main.cc",
                 "src/cli/report.cc", "src/package/yaml.cc"}
PRINT_ALLOWED = ("src/cli/",)
CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments_and_strings(text: str) -> str:
    return CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def problems(root: Path) -> list[str]:
    found = []
    for path in tracked(root, "src/**/*.h", "src/**/*.cc", "src/**/*.inc", "tests/**/*.cc", "tests/**/*.h", "include/**/*.h"):
        name = str(path.relative_to(root))
        text = path.read_text()
        lines = text.count("\n")
        if lines > MAX_LINES:
            found.append(f"{name}: {lines} lines, at most {MAX_LINES}: is it one idea?")
        if name.startswith("src/"):
            found += source_problems(name, without_comments_and_strings(text))
    return found


def source_problems(name: str, code: str) -> list[str]:
    found = []

    def report(pattern: str, message: str):
        for match in re.finditer(pattern, code):
            found.append(f"{name}:{code.count(chr(10), 0, match.start()) + 1}: {message}")

    if name not in CATCH_ALLOWED:
        report(r"\bcatch\s*\(", "catch outside the places that may (docs/style.md, Errors)")
    if name != "src/base/env.cc":
        report(r"\b(getenv|secure_getenv)\s*\(", "reads the environment; only src/base/env.cc may")
    if not name.startswith(PRINT_ALLOWED):
        report(r"\bstd::(cout|cerr|clog)\b|\b(printf|puts|fprintf)\s*\(", "prints from library code")
    return found


def self_test() -> bool:
    bad_source = 'void f() { try { g(); } catch (...) {} getenv("X"); std::cout << 1; }\n// catch (in a comment)\n'
    with Tree({"src/ops/a.cc": bad_source, "src/ops/b.cc": "\n" * 700}) as bad:
        return len(problems(bad)) == 4
