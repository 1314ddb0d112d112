"""clang-tidy over the program's sources, warnings as errors.

A file is not read again while nothing it is made of has changed: what passed is remembered in the user's cache folder,
so that a fresh clone gains from it too, as it does from ccache.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from .files import Tree

TOOL = "clang-tidy-19"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def run(file: Path, build: Path) -> str:
    command = [TOOL, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    return (result.stdout.strip() or result.stderr.strip()) if result.returncode else ""


class Keys:
    """What a file's verdict depends on: its text, our headers it reaches, its flags, the checks, the tool."""

    def __init__(self, root: Path, build: Path):
        self.root, self.build = root, build
        self.folders = [root / "src", root / "include", build / "generated"]
        self.tool = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout

    @functools.cache
    def text(self, file: Path) -> bytes:
        return file.read_bytes()

    def reached(self, file: Path) -> set[Path]:
        found, waiting = set(), [file]
        while waiting:
            file = waiting.pop()
            found.add(file)
            for name in INCLUDE.findall(self.text(file).decode(errors="replace")):
                candidates = [folder / name for folder in [file.parent, *self.folders]]
                waiting += [c for c in candidates if c.is_file() and c not in found][:1]
        return found

    def key(self, file: Path, command: str) -> str:
        digest = hashlib.sha256(self.tool + command.replace(str(self.root), "").encode())
        for folder in file.relative_to(self.root).parents:
            rules = self.root / folder / ".clang-tidy"
            digest.update(self.text(rules) if rules.is_file() else b"")
        for part in sorted(self.reached(file)):
            digest.update(self.text(part))
        return digest.hexdigest()


def problems(root: Path, only: tuple[str, ...] = ()) -> list[str]:
    build = root / "build/dev"
    entries = {Path(e["file"]): e["command"] for e in json.loads((build / "compile_commands.json").read_text())}
    files = sorted(f for f in entries if f.is_relative_to(root / "src"))
    if only:
        files = [f for f in files if f.relative_to(root / "src").parts[0] in only]
    passed = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "onnx-genai-tidy"
    passed.mkdir(parents=True, exist_ok=True)
    keys = Keys(root, build)
    todo = {f: passed / keys.key(f, entries[f]) for f in files}
    todo = {f: mark for f, mark in todo.items() if not mark.exists()}
    found = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {pool.submit(run, f, build): f for f in todo}
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            if job.result():
                found.append(job.result())
            else:
                todo[jobs[job]].touch()
            if sys.stderr.isatty() or done % 25 == 0:
                print(f"  clang-tidy: {done} of {len(jobs)}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)
    return found


def self_test() -> bool:
    rules = "Checks: '-*,bugprone-suspicious-semicolon'\nWarningsAsErrors: '*'\n"
    source = "int f(int x) { if (x); return x; }\n"
    with Tree({".clang-tidy": rules, "a.cc": source, "compile_commands.json": "[]"}) as root:
        file = root / "a.cc"
        (root / "compile_commands.json").write_text(
            json.dumps([{"directory": str(root), "file": str(file), "command": "g++ -c a.cc"}]))
        return "suspicious-semicolon" in run(file, root)
