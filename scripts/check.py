#!/usr/bin/env python3
"""The rules of docs/style.md, enforced. Each rule first proves on a bad example that it can fail.

usage: check.py [--fast] [RULE | FOLDER]...     --fast leaves out clang-tidy; a FOLDER of src/ limits clang-tidy to it
"""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from rules import formatting, includes, source_rules, tidy, weak_symbols  # noqa: E402
from rules import documents, private_names, test_targets  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RULES = [includes, source_rules, documents, private_names, test_targets, formatting, weak_symbols, tidy]


def name_of(rule) -> str:
    return rule.__name__.split(".")[-1]


def check(rule, *arguments) -> bool:
    start = time.monotonic()
    if not rule.self_test():
        print(f"check {name_of(rule)}: the rule's own self-test failed: it can't find a known violation")
        return False
    problems = rule.problems(ROOT, *arguments)
    print(f"check {name_of(rule)}: {f'{len(problems)} problem(s)' if problems else 'ok'} ({time.monotonic() - start:.0f} s)")
    for problem in problems:
        print("  " + problem.replace(f"{ROOT}/", "").replace("\n", "\n  "))
    sys.stdout.flush()
    return not problems


def main() -> int:
    fast = "--fast" in sys.argv[1:]
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    folders = tuple(n for n in names if (ROOT / "src" / n).is_dir())
    rules = [r for r in RULES if name_of(r) in names] or ([tidy] if folders else RULES)
    unknown = set(names) - set(folders) - {name_of(r) for r in RULES}
    if unknown:
        print(f"check: {', '.join(sorted(unknown))}: neither a rule ({', '.join(map(name_of, RULES))}) nor a folder of src/")
        return 2
    good = [check(rule, folders) if rule is tidy else check(rule) for rule in rules if not (fast and rule is tidy)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
