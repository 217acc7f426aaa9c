#!/usr/bin/env python3
"""Checks that trailing comments of members are noun phrases or sentences.

usage: check_comments.py ROOT

A comment `///< of each node` leans on the name before it; `///< text of each node` can be read alone.
"""

from __future__ import annotations

import pathlib
import re
import sys

FOLDERS = ("emulator", "kernels", "libgdr", "bench")

# Words with which no noun phrase begins. "as", "by", "for" and others may begin other phrases: they
# are refused as well, since a noun before them says more.
FRAGMENT = re.compile(
    r";\s*///<\s*(?:of|that|with|which|whose|where|when|while|because|in|from|to|at|by|for|as|if|"
    r"without|until|under|before|after|behind|above|below|beside|between|on|until|and|or|"
    r"is|are|has|have|was|were)\b(?! least\b| most\b)",
    re.IGNORECASE,
)


def findings(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers whose comment begins with a fragment."""
    return [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if FRAGMENT.search(line)
    ]


def main() -> int:
    for line in ("int a;  ///< of each node", "double b = 0;    ///< with their proxies"):
        assert findings(line), line
    for line in (
        "int a;  ///< number of nodes",
        "int b;  ///< offsets",
        "int c;  ///< at most 3",
        "A,  ///< to an integer",
    ):
        assert not findings(line), line
    root = pathlib.Path(sys.argv[1])
    errors = [
        f"{file.relative_to(root)}:{number}: {line}"
        for folder in FOLDERS
        for file in sorted((root / folder).rglob("*"))
        if file.suffix in (".cpp", ".hpp", ".h", ".c")
        for number, line in findings(file.read_text(encoding="utf-8"))
    ]
    print("\n".join(errors) or "comments of members begin with a noun")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
