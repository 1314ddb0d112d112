#!/usr/bin/env python3
"""The rules of docs/style.md, enforced. Each rule first proves on a bad example that it can fail.

usage: check.py [--fast]     --fast leaves out clang-tidy
"""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from rules import formatting, includes, source_rules, tidy, weak_symbols  # noqa: E402
from rules import documents, test_targets  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    fast = "--fast" in sys.argv[1:]
    rules = [includes, source_rules, documents, test_targets, formatting, weak_symbols] + ([] if fast else [tidy])
    failed = False
    for rule in rules:
        name = rule.__name__.split(".")[-1]
        if not rule.self_test():
            print(f"check {name}: the rule's own self-test failed: it can't find a known violation")
            failed = True
            continue
        problems = rule.problems(ROOT)
        print(f"check {name}: {'ok' if not problems else f'{len(problems)} problem(s)'}", flush=True)
        for problem in problems:
            print(f"  {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
