#!/usr/bin/env python3
"""Looks for the messages of docs/guides/troubleshooting.md in the sources: the page explains messages
that exist.

Messages are what is in backquotes in the first column, with `...` for parts that differ, below all
headings but Installation, where they are those of other programs.

usage: check_messages.py SOURCE_DIR
"""

import pathlib
import re
import sys

ROW = re.compile(r"^\| (.*?) \| ")
QUOTED = re.compile(r"`([^`]*)`")
FOLDERS = ("emulator", "kernels", "libgdr", "python")
#: String literals that a compiler joins, and marks of the parts that differ.
JOINED = re.compile(r'"\s*\n?\s*f?"')


def messages(page: str) -> list[str]:
    """The messages of the page that have at least three words."""
    found = []
    for section in page.split("\n## ")[1:]:
        if section.startswith("Installation"):
            continue
        for row in filter(None, map(ROW.match, section.splitlines())):
            found += [text for text in QUOTED.findall(row.group(1)) if len(text.split()) > 2]
    return found


def sources(root: pathlib.Path) -> str:
    """All sources, with adjacent literals joined."""
    files = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*")))
    texts = (
        path.read_text(encoding="utf-8", errors="replace")
        for path in files
        if path.suffix in (".cpp", ".hpp", ".py")
    )
    return JOINED.sub("", "\n".join(texts))


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    found = messages((root / "docs/guides/troubleshooting.md").read_text(encoding="utf-8"))
    text = sources(root)
    problems = [
        f"no source has {part.strip()!r} of {message!r}"
        for message in found
        for part in message.split("...")
        if len(part.strip()) > 3 and part.strip(" ;:(),") not in text
    ]
    if len(found) < 12:
        problems.append(f"the page has {len(found)} messages only: has its form changed?")
    print("\n".join(problems) or f"{len(found)} messages exist")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
