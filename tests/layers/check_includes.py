#!/usr/bin/env python3
"""Checks that sources include only what their layer may use.

usage: check_includes.py ROOT

A row names the folders of one layer; files may include headers of their own folder and of the
layers after it, not of a layer before it, nor of another folder of the same layer. A folder that is
in no row, or a row that no folder has, is an error, so that the rows stay complete. HACKING.md has
the drawing.
"""

from __future__ import annotations

import pathlib
import re
import sys

# What the folders of the product include, besides headers of their own; nothing includes others.
TOPS: dict[str, set[str]] = {
    "emulator": set(),
    "kernels": {"emulator"},
    "libgdr": {"kernels", "emulator"},
    "python": {"libgdr", "kernels", "emulator"},
    "examples": set(),
}

# Top folder: layers from the highest to the lowest; "." stands for files of the top folder itself.
LAYERS: dict[str, list[str]] = {
    "emulator": [
        "selftest board",
        "engine",
        "port assembler",
        "chip",
        "isa",
        "numeric host include",
    ],
    "emulator/engine": [
        "registry",
        "native vector",
        "reference",
        "runners",
        "matmul",
        "sources lanes jit gpu",
        "api",
    ],
    "emulator/engine/vector": [". gpu", "doubles", "rows"],
    "emulator/engine/matmul": ["gpu", ".", "cpu", "pattern"],
    "emulator/engine/native": [".", "run", "program", "gpu", "codegen", "words", "translate"],
    "kernels": ["generate", "compiler", "."],
    "kernels/compiler": [
        "emit",
        ".",
        "functions",
        "lower regalloc",
        "schedule cache front",
        "ir",
        "diagnostics",
    ],
    "libgdr": [
        "cli capi compat",
        "chemistry estimate ewald sph nbody predict debug machine network relay open mpi",
        "pairs",
        "distributed particle",
        "dense tree",
        "ranks",
        "device",
        "driver io",
        "plugin",
        "include",
    ],
}


def folder_of(path: pathlib.PurePath) -> str:
    return path.parts[0] if len(path.parts) > 1 else "."


def sources(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(f for f in folder.rglob("*") if f.suffix in (".cpp", ".hpp", ".h", ".c"))


def check_top(root: pathlib.Path, top: str) -> list[str]:
    """Includes of folders beside or above a top folder."""
    include = re.compile(
        r'^\s*#\s*include\s+["<](?:\.\./)*(emulator|kernels|libgdr|bench|tests|docs|examples|python)/'
    )
    errors = []
    for file in sources(root / top):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = include.match(line)
            if match is not None and match[1] != top and match[1] not in TOPS[top]:
                errors.append(
                    f"{file.relative_to(root)}:{number}: {top}/ must not include {match[1]}/"
                )
    return errors


def check(root: pathlib.Path, top: str) -> list[str]:
    """The violations of a top folder's layers."""
    level = {folder: n for n, row in enumerate(LAYERS[top]) for folder in row.split()}
    base = root / top
    files = sources(base)
    found = {folder_of(f.relative_to(base)) for f in files}
    errors = [
        f"{top}/{name} is in no layer; add it to tests/layers/check_includes.py"
        for name in sorted(found - set(level))
    ]
    errors += [
        f"{top}/{name} has no source; remove it from tests/layers/check_includes.py"
        for name in sorted(set(level) - found)
    ]
    include = re.compile(rf'^#include "{re.escape(top)}/(.+)"')
    for file in files:
        own = folder_of(file.relative_to(base))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = include.match(line)
            if match is None:
                continue
            used = folder_of(pathlib.PurePath(match[1]))
            if used == own or own not in level or used not in level:
                continue
            if level[used] <= level[own]:
                errors.append(f"{file.relative_to(root)}:{number}: {own} must not include {used}/")
    return errors


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    errors = [error for top in TOPS for error in check_top(root, top)]
    errors += [error for top in LAYERS for error in check(root, top)]
    print("\n".join(errors) or "all includes follow the layers")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
