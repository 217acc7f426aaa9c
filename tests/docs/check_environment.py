#!/usr/bin/env python3
"""Compares docs/reference/environment.md with the environment variables that the sources read.

Every string literal that is a name GDR_... in the product must have a row in the first table of
the page, every one in the tests a row in its second table, and no row may name an unused variable.

usage: check_environment.py SOURCE_DIR
"""

import pathlib
import re
import sys

LITERAL = re.compile(r"""["'](GDR_[A-Z0-9_]+)["']""")
ROW = re.compile(r"^\| `(GDR_[A-Z0-9_]+)` \|")
# Names in generated C headers, not environment variables.
C_NAMES = {"GDR_F64", "GDR_F32", "GDR_I64", "GDR_RAW"}
PRODUCT = ("bench", "emulator", "kernels", "libgdr", "python")
# Set by the build for its own test programs.
SET_BY_BUILD = {"GDR_DOCS_PYTHON", "GDR_ULFM_LAUNCHER"}
# An option of CMake that a test names.
CMAKE_OPTIONS = {"GDR_MPI"}


def read_by(source: pathlib.Path, folders: tuple[str, ...]) -> set[str]:
    """Variables that sources in these folders name."""
    found = set()
    for folder in folders:
        for path in (source / folder).rglob("*"):
            if path.parent.name == "docs" and path.name.startswith("check_"):
                continue
            if path.suffix in (".cpp", ".hpp", ".c", ".py"):
                found |= set(LITERAL.findall(path.read_text(encoding="utf-8", errors="replace")))
    return found - C_NAMES


def listed(page: pathlib.Path) -> tuple[set[str], set[str]]:
    """Variables of the first table, and those below the heading about tests."""
    product, tests = page.read_text(encoding="utf-8").split("\n## Tests\n")
    return tuple(
        {row.group(1) for row in map(ROW.match, part.splitlines()) if row}
        for part in (product, tests)
    )


def main() -> int:
    source = pathlib.Path(sys.argv[1])
    page = source / "docs/reference/environment.md"
    product, tests = listed(page)
    read = read_by(source, PRODUCT)
    read_in_tests = read_by(source, ("tests",))
    problems = [f"{name} is read by the product and has no row" for name in sorted(read - product)]
    problems += [
        f"{name} has a row, and the product does not read it" for name in sorted(product - read)
    ]
    problems += [
        f"{name} is read by the tests and has no row"
        for name in sorted(read_in_tests - product - tests - SET_BY_BUILD - CMAKE_OPTIONS)
    ]
    problems += [
        f"{name} has a row, and no test reads it" for name in sorted(tests - read_in_tests)
    ]
    for problem in problems:
        print(f"{page}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
