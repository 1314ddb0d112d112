"""Nothing in the tree names a particular machine's folders or the hosts that packages come from."""
import re
from pathlib import Path

from .files import Tree, tracked

# Paths from the root of some machine, and registry hosts. Put together here so that this file is no finding itself.
FOLDERS = re.compile(r"(?<![\w.$}~-])/(?:work|tmp|home|root)/\w")
NAMES = [("pypi",), ("files", "python" + "hosted"), ("registry", "npmjs"), ("deb", "debian")]
HOSTS = re.compile(r"\b(?:" + "|".join(r"\.".join(parts) for parts in NAMES) + r")\.org\b")
DATA = ("tests/golden/", "fuzz/corpus/")  # texts that happen to look like paths


def problems(root: Path) -> list[str]:
    found = []
    for path in tracked(root, "**/*"):
        name = str(path.relative_to(root))
        if name.startswith(DATA) or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # a binary fixture
        for number, line in enumerate(text.split("\n"), 1):
            for pattern in (FOLDERS, HOSTS):
                match = pattern.search(line)
                if match:
                    found.append(f"{name}:{number}: names {match.group()}…")
    return found


def self_test() -> bool:
    hosts = "".join("fetch https://" + ".".join(parts) + ".org/x\n" for parts in NAMES)
    bad = "x = '/" + "home/me/model'\n" + hosts
    with Tree({"dev": bad, "good": "cd ../home/x; ls $HOME/x build/tmp/x\n"}) as root:
        return len(problems(root)) == 1 + len(NAMES)
