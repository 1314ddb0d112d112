"""Which files the rules look at."""
import subprocess
import tempfile
from pathlib import Path


def tracked(root: Path, *patterns: str) -> list[Path]:
    """Files git knows (or would add) below `root`; every file when `root` is no checkout (self-tests)."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "--", *(":(glob)" + p for p in patterns)]
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
        return sorted(root / n for n in names if n and (root / n).exists())
    return sorted(p for pattern in patterns for p in root.glob(pattern) if p.is_file())


class Tree:
    """A throw-away tree for a self-test: Tree({"src/a.cc": "text"})."""

    def __init__(self, files: dict[str, str]):
        self._folder = tempfile.TemporaryDirectory()
        self.root = Path(self._folder.name)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def __enter__(self) -> Path:
        return self.root

    def __exit__(self, *_):
        self._folder.cleanup()
