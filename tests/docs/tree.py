"""The text files of the source tree, for the checks in this folder."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterator


def names(source: pathlib.Path) -> list[str]:
    """Files that git tracks; in a tree without git all files outside of build folders."""
    listed = subprocess.run(
        ["git", "-C", source, "ls-files", "-z"], check=False, capture_output=True, text=True
    )
    if listed.returncode == 0 and listed.stdout:
        return [name for name in listed.stdout.split("\0") if name]
    found = []
    for path in source.rglob("*"):
        parts = path.relative_to(source).parts
        if path.is_file() and not parts[0].startswith(("build", ".git")):
            found.append("/".join(parts))
    return sorted(found)


def texts(source: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Name and contents of every text file."""
    for name in names(source):
        path = source / name
        if not path.is_file():
            continue
        try:
            yield name, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
