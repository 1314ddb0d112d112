"""Runs each subcommand as a user would, on an imported model. What it generates is compared with others in tests/e2e.

    python tests/tools/check_demo_model.py PROGRAM MODEL_FOLDER

Exit status 1 when a check fails.
"""
import json
import pathlib
import subprocess
import sys

failures = 0


def report(ok, text):
    global failures
    failures += not ok
    print(("ok    " if ok else "FAIL  ") + text, flush=True)


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode:
        report(False, f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr.strip()}")
        return None
    return done.stdout


def run_json(program, *arguments):
    out = run(program, *arguments, "--json")
    return json.loads(out) if out else None


def main():
    program, folder = sys.argv[1], sys.argv[2]
    question = ("generate", folder, "--chat", "--prompt", "What is the capital of France?", "--temperature", "0")
    report("Paris" in (run(program, *question, "--max-tokens", "64") or ""), "knows the capital of France")
    answer = run_json(program, "generate", folder, "--prompt", "Water boils at", "--temperature", "0", "--max-tokens", "8")
    report(bool(answer) and len(answer["token_ids"]) == 8, "generate --json")
    report(bool(run(program, "inspect", folder)), "inspect")
    report(bool(run(program, "check", folder)), "check")
    speed = run_json(program, "bench", folder, "--prompt-tokens", "32", "--decode-tokens", "8", "--repeat", "1")
    report(bool(speed), "bench")
    quality = run_json(program, "perplexity", folder, "--file", str(pathlib.Path(__file__).resolve().parents[2] / "LICENSE"))
    report(bool(quality) and 1 < quality["perplexity"] < 200, f"perplexity of the licence: {quality and quality['perplexity']}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
