#!/usr/bin/env python3
"""Writes docs/reference/commands.md from what `gdr --help` and `gdr COMMAND --help` print.

The help texts are laid out from the tables of options that parse the command line, so that the page
has every option of every command. With --check nothing is written, and the exit status is 1 if the
page differs.

usage: commands.py [--check] GDR_PROGRAM PAGE
"""

import itertools
import re
import subprocess
import sys

INTRODUCTION = """\
# Commands

Generated from `gdr COMMAND --help`; do not edit. The guide to the command, with examples, is
[command-line.md](../guides/command-line.md).

These hold for all commands:

- **Exit status**: 0 success, 1 error (a file, a device, a program that does not assemble), 2 wrong
  usage, 141 if the reader of a pipe closes it. Errors are printed to standard error as
  `gdr: error: ...` and say what to do. A misspelt command or option is answered with the nearest
  existing one.
- **Files** replace older ones only when they are complete. Output that cannot be written is an
  error.
- **`--quiet`** (`-q`) prints results, warnings and errors only; **`--verbose`** (`-v`) adds the choices of
  device, engine, kernel and threads, and times, on standard error.
- **Progress** is shown on standard error if that is a terminal, and not with `--quiet`.
- **`--json`** prints one JSON object on standard output; infinities and NaN are strings.
- **`--device`**, `--engine`, `--isa` and `--threads` choose where and how to compute:
  [device-options.md](device-options.md) and [environment.md](environment.md) list names and values.
"""

INDENT = "  "


def help_of(program: str, *command: str) -> list[str]:
    """The lines of a help text."""
    return subprocess.run(
        [program, *command, "--help"], check=True, capture_output=True, text=True
    ).stdout.splitlines()


def rows(lines: list[str]) -> list[tuple[str, str]]:
    """(option, description) of an indented two-column table, continuation lines joined."""
    found: list[list[str]] = []
    for line in lines:
        deep = len(line) - len(line.lstrip())
        if deep > len(INDENT) and found:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
            continue
        left, *right = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        found.append([left, right[0] if right else ""])
    return [(left, right) for left, right in found]


def table(title: str, lines: list[str]) -> str:
    def cell(text: str) -> str:
        return re.sub(r"([|*<])", r"\\\1", text)

    head = f"| {title} | meaning |\n|---|---|\n"
    return head + "".join(f"| `{left}` | {cell(right)} |\n" for left, right in rows(lines))


def sections(lines: list[str]) -> dict[str, list[str]]:
    """Lines by heading; those before the first heading under ''."""
    found: dict[str, list[str]] = {"": []}
    heading = ""
    for line in lines:
        if line in ("Arguments", "Options", "Example"):
            heading = line
            found[heading] = []
        elif heading == "" or line.strip():
            found[heading].append(line)
    return found


def blocks(paragraphs: str) -> list[tuple[bool, str]]:
    """Tables, whose lines are indented, and the text between them."""
    found = []
    for table, lines in itertools.groupby(
        paragraphs.splitlines(), lambda line: line.startswith(INDENT)
    ):
        text = "\n".join(line.removeprefix(INDENT) if table else line for line in lines)
        if text.strip("\n"):
            found.append((table, text.strip("\n")))
    return found


def command_section(program: str, name: str) -> str:
    parts = sections(help_of(program, name))
    title, _, usage, *details = parts[""]
    text = f"## gdr {name}\n\n{title.split(': ', 1)[1].capitalize()}.\n\n"
    text += f"```text\n{usage.removeprefix('Usage: ')}\n```\n\n"
    paragraphs = "\n".join(details).strip("\n")
    for indented, part in blocks(paragraphs):
        if indented:
            text += f"```text\n{part}\n```\n\n"
        else:
            text += re.sub(r"([*<])", r"\\\1", part) + "\n\n"
    if "Arguments" in parts:
        text += table("argument", parts["Arguments"]) + "\n"
    text += table("option", parts["Options"]) + "\n"
    examples = "\n".join(line.removeprefix(INDENT) for line in parts["Example"])
    return text + f"```text\n{examples}\n```\n"


def page(program: str) -> str:
    """The whole page: a table of the commands by group, and a section for each."""
    overview, sections_text = "", ""
    for line in help_of(program):
        row = re.fullmatch(r"  ([a-z]+) {2,}(.*)", line)
        if row:
            name, summary = row.groups()
            overview += f"| [`{name}`](#gdr-{name}) | {summary} |\n"
            sections_text += "\n" + command_section(program, name)
        elif line == "Options":
            break
    return INTRODUCTION + "\n| command | purpose |\n|---|---|\n" + overview + sections_text


def main() -> int:
    check = sys.argv[1] == "--check"
    program, path = sys.argv[-2:]
    text = page(program)
    try:
        with open(path, encoding="utf-8") as file:
            current = file.read()
    except FileNotFoundError:
        current = ""
    if current == text:
        return 0
    if check:
        print(f"{path} differs from what {program} prints; run `make docs`", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
