"""clang-tidy over the program's sources, warnings as errors. Files unchanged since they last passed are not read again."""
import concurrent.futures
import hashlib
import json
import os
import subprocess
from pathlib import Path

from .files import Tree

TOOL = "clang-tidy-19"


def run(file: str, build: Path) -> str:
    command = [TOOL, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", file]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout.strip() if result.returncode else ""


def problems(root: Path) -> list[str]:
    build = root / "build/dev"
    entries = json.loads((build / "compile_commands.json").read_text())
    files = sorted({e["file"] for e in entries if e["file"].startswith(str(root / "src"))})
    headers = hashlib.sha256(b"".join(p.read_bytes() for p in sorted((root / "src").rglob("*.h")))).hexdigest()
    rules = (root / ".clang-tidy").read_bytes()
    cache_file = root / "build/tidy.json"
    passed = json.loads(cache_file.read_text()) if cache_file.exists() else {}
    keys = {f: hashlib.sha256(Path(f).read_bytes() + headers.encode() + rules).hexdigest() for f in files}
    todo = [f for f in files if passed.get(f) != keys[f]]
    found = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, output in zip(todo, pool.map(lambda f: run(f, build), todo)):
            if output:
                found.append(output)
            else:
                passed[file] = keys[file]
    cache_file.write_text(json.dumps(passed))
    return found


def self_test() -> bool:
    rules = "Checks: '-*,bugprone-suspicious-semicolon'\nWarningsAsErrors: '*'\n"
    source = "int f(int x) { if (x); return x; }\n"
    with Tree({".clang-tidy": rules, "a.cc": source, "compile_commands.json": "[]"}) as root:
        (root / "compile_commands.json").write_text(json.dumps([{"directory": str(root), "file": str(root / "a.cc"), "command": "g++ -c a.cc"}]))
        return "suspicious-semicolon" in run(str(root / "a.cc"), root)
