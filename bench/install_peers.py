"""Installs bench/requirements.txt into the running environment, line by line, and notes what failed and why.

    python bench/install_peers.py NOTES.json
"""
import json
import pathlib
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt")


def wanted() -> list[str]:
    lines = (line.split("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines())
    return [line for line in lines if line]


def install(requirement: str) -> str | None:
    """The reason when it fails: the installer's last line that says something."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or [f"the installer ended with {done.returncode}"])[-1]


def main():
    notes_file = pathlib.Path(sys.argv[1])
    notes = json.loads(notes_file.read_text()) if notes_file.exists() else {}
    for requirement in wanted():
        if notes.get(requirement, "not tried") is not None:
            print(f"bench: installing {requirement}", file=sys.stderr)
            notes[requirement] = install(requirement)
            if notes[requirement]:
                print(f"bench: no {requirement}: {notes[requirement]}", file=sys.stderr)
    notes_file.write_text(json.dumps({requirement: notes[requirement] for requirement in wanted()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
