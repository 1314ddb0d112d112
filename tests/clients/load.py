"""Load and soak of a running server: what it holds on this machine, measured from outside.

usage: python tests/clients/load.py PART…|all [--short] [--seconds N] [--max-step-ms N] [--model DIR]
"""

import argparse
import inspect
import json
import pathlib
import sys
import tempfile
import time

from load_crowd import crowd, soak
from load_leases import hammer, next_turns
from load_readers import neighbour, pages, vanish
from load_restart import restart, stop
from server import make_tiny_model

PARTS = {part.__name__: part for part in (hammer, next_turns, vanish, neighbour, pages, crowd, soak, restart, stop)}


def main():
    parts = "\n".join(f"{name:12} {inspect.getdoc(part)}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(description=f"{__doc__}\n{parts}", usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all"], metavar="PART")
    parser.add_argument("--short", action="store_true", help="seconds instead of minutes, and no bounds on times")
    parser.add_argument("--seconds", type=float, default=60, help="of hammer")
    parser.add_argument("--max-step-ms", type=float, default=150, help="the server's, of neighbour")
    parser.add_argument("--model", type=pathlib.Path, help="of vanish, neighbour, pages, restart; default: a tiny one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.tiny = make_tiny_model(folder)
        options.model = options.model or options.tiny
        for name in PARTS if "all" in options.parts else options.parts:
            began = time.monotonic()
            figures = PARTS[name](options)
            print(f"{name} ({time.monotonic() - began:.0f} s)", json.dumps(figures), flush=True)


if __name__ == "__main__":
    sys.exit(main())
