"""Folders include only headers of themselves and of the folders below them (HACKING.md, map).

Usage: layers.py SOURCE_DIR
"""

from __future__ import annotations

import pathlib
import re
import sys

BELOW = {
    "emulator": {"emulator"},
    "kernels": {"kernels", "emulator"},
    "libgdr": {"libgdr", "kernels", "emulator"},
    "python": {"libgdr", "kernels", "emulator"},
    "examples": set(),
}


def wrong_includes(folder: pathlib.Path, allowed: set[str]) -> list[str]:
    """Includes of headers of other folders at the top of the sources."""
    others = "emulator|kernels|libgdr|bench|tests|docs|examples|python"
    include = re.compile(rf'^\s*#\s*include\s+["<](?:\.\./)*({others})/', re.M)
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".cpp", ".hpp", ".h", ".c"}:
            text = path.read_text(encoding="utf-8")
            tops = [top for top in include.findall(text) if top not in allowed]
            found += [f"{path} includes {top}/" for top in tops]
    return found


def main(source: str) -> None:
    wrong = []
    for name, allowed in BELOW.items():
        wrong += wrong_includes(pathlib.Path(source) / name, allowed)
    for line in wrong:
        print(f"{line}, which is above it")
    if wrong:
        sys.exit(1)


main(*sys.argv[1:])
