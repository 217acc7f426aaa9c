#!/usr/bin/env python3
"""Checks that links between pages lead somewhere.

Relative links of all Markdown pages must name a file or folder of the tree, and a heading if they
have an anchor. Pages that sources mention as docs/... must exist, too. So must the paths of sources
that pages have in backquotes (`emulator/isa/table.cpp`; words in capitals stand for any name), and
the tests of commands like `build/release/tests/test_io "a snapshot with*"`.

usage: check_links.py SOURCE_DIR
"""

import pathlib
import re
import sys

import tree

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
MENTION = re.compile(r"(?<![\w/.])docs/[\w/.-]*\.(?:md|svg|gds|json)\b")
SOURCE = re.compile(
    r"`((?:bench|cmake|docs|emulator|examples|kernels|libgdr|python|tests)/[\w./*-]+)`"
)
SELECTION = re.compile(r"tests/test_(\w+) \"([^\"]+)\"")
TITLE = re.compile(r"TEST_CASE\(\s*\"((?:[^\"\\]|\\.)*)\"")
PLACEHOLDER = re.compile(r"[A-Z]{3,}")
FENCE = re.compile(r"^\s*```.*?^\s*```", re.M | re.S)


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    found: dict[str, int] = {}
    result = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.M):
        name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        result.add(name if count == 0 else f"{name}-{count}")
    return result


def problems_of_page(source: pathlib.Path, path: pathlib.Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    found = []
    for groups in LINK.findall(FENCE.sub("", text)):
        link = groups[0] or groups[1]
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            found.append(f"{path.relative_to(source)}: {link}: no such file")
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(source)}: {link}: no such heading")
    for name in SOURCE.findall(text):
        if not PLACEHOLDER.search(name) and not any(source.glob(name.rstrip("/"))):
            found.append(f"{path.relative_to(source)}: {name}: no such file")
    for component, patterns in SELECTION.findall(text):
        code = "".join(file.read_text() for file in (source / "tests" / component).glob("*.cpp"))
        titles = "\n".join(TITLE.findall(code))
        for pattern in patterns.split(","):
            if pattern.strip("*") not in titles:
                found.append(f"{path.relative_to(source)}: test_{component}: no test {pattern}")
    return found


def main() -> int:
    source = pathlib.Path(sys.argv[1]).resolve()
    problems = []
    for name, text in tree.texts(source):
        if name.endswith(".md"):
            problems += problems_of_page(source, source / name)
        for mention in MENTION.findall(text):
            if not (source / mention).exists():
                problems.append(f"{name}: {mention}: no such file")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
