"""Imports the demo's GGUF file as the packages the other end-to-end scripts look at.

    python tests/e2e/import_models.py PROGRAM MODEL.gguf FOLDER
"""
import pathlib
import sys

import support

LONG_CONTEXT = 131072


def with_long_context(source, target):
    """The same file, claiming a context of 128k tokens: the number is patched where the metadata holds it."""
    key = b"llama.context_length" + (4).to_bytes(4, "little")  # 4: uint32
    data = source.read_bytes()
    at = data.index(key) + len(key)
    target.write_bytes(data[:at] + LONG_CONTEXT.to_bytes(4, "little") + data[at + 4 :])


def main():
    program, gguf, folder = support.need(sys.argv[1]), pathlib.Path(support.need(sys.argv[2])), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in support.PACKAGES.items():
        support.run(program, "import", gguf, "-o", folder / name, "--overwrite", *options)
    long = folder / "long_context.gguf"
    with_long_context(gguf, long)
    support.run(program, "import", long, "-o", folder / "long_context", "--overwrite")
    long.unlink()


if __name__ == "__main__":
    main()
