"""What the documents say exists: environment variables and the map of folders."""
import re
from pathlib import Path

from .files import Tree, tracked


def problems(root: Path) -> list[str]:
    found = []
    env = root / "src/base/env.cc"
    configuration = root / "docs/configuration.md"
    if env.exists():
        read = set(re.findall(r'EnvVariable\{EnvName::\w+,\s*"(\w+)"', env.read_text()))
        documented = set(re.findall(r"^\| `(\w+)`", configuration.read_text(), re.M)) if configuration.exists() else set()
        found += [f"src/base/env.cc reads {name}, docs/configuration.md does not document it" for name in sorted(read - documented)]
        found += [f"docs/configuration.md documents {name}, nothing reads it" for name in sorted(documented - read)]
    readme = root / "README.md"
    if readme.exists():
        text = readme.read_text()
        if text.count("\n") > 120:
            found.append("README.md: more than 120 lines")
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            if "://" not in link and not (root / link).exists():
                found.append(f"README.md links to {link}, which does not exist")
    return found


def self_test() -> bool:
    env = 'EnvVariable{EnvName::a, "A", ""}, EnvVariable{EnvName::b, "B", ""}'
    with Tree({"src/base/env.cc": env, "docs/configuration.md": "| `A` | x |\n| `C` | x |\n", "README.md": "[x](gone.md)\n"}) as bad:
        return len(problems(bad)) == 3
