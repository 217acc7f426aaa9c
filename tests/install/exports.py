"""libgdr.so exports what its headers declare, and a few functions for other libraries of the build.

Usage: exports.py NM LIBRARY STATIC_LIBRARY SOURCE_DIR

The static library has the same objects with all their symbols: it shows which functions of the
headers' classes there are.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys


def functions(nm: str, library: str, *options: str) -> set[str]:
    """The functions that a library defines, in C++ notation without arguments."""
    command = [nm, "-C", "--defined-only", *options, library]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^[0-9a-f]+ T (.+)$", text, re.M)
    return {re.sub(r"\[abi:\w+\]|\(.*", "", name) for name in names}


def without_comments(text: str) -> str:
    """A header without comments and preprocessor lines."""
    return re.sub(r"//.*|/\*[\s\S]*?\*/|^#.*", "", text, flags=re.M)


def declared(source: pathlib.Path) -> tuple[set[str], set[str], set[str]]:
    """Classes and functions of the C++ headers, and functions of the C header."""
    classes: set[str] = set()
    free: set[str] = set()
    headers = [*source.glob("libgdr/include/**/*.hpp"), *source.glob("emulator/include/**/*.hpp")]
    for header in headers:
        text = without_comments(header.read_text())
        scope = re.findall(r"^namespace (gdr(?:::chemistry)?) \{", text, re.M)[:1]
        for found, pattern in (
            (classes, r"^(?:class|struct) (?:alignas\(\d+\) )?(\w+)[^;]*?\{"),
            (free, r"^(?!inline|template)\w[\w:<>*& ]*[ *&](\w+)\("),
        ):
            found.update(f"{scope[0]}::{name}" for name in re.findall(pattern, text, re.M) if scope)
    c_header = without_comments((source / "libgdr/include/gdr.h").read_text())
    return classes, free, set(re.findall(r"\b(gdr_\w+)\(", c_header))


def documented(names: set[str], classes: set[str], free: set[str]) -> set[str]:
    """Functions that the headers declare. Classes inside of others are no interface."""
    return {name for name in names if name in free or name.rpartition("::")[0] in classes}


def main(nm: str, library: str, static_library: str, source_folder: str) -> None:
    source = pathlib.Path(source_folder)
    classes, free, c_functions = declared(source)
    script = (source / "libgdr/exports.map").read_text()
    internal = set(re.findall(r"(gdr::[\w:]+)\*;", script.split("No interface:")[1]))
    expected = documented(functions(nm, static_library), classes, free) | c_functions | internal
    command = [nm, "-D", "-C", "--defined-only", library]
    every = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    # Weak ones are members that compilers write in every file that needs them: destructors.
    exported = {re.sub(r"\[abi:\w+\]|\(.*", "", line.split(maxsplit=2)[2]) for line in every}
    weak = {re.sub(r"\(.*", "", line.split(maxsplit=2)[2]) for line in every if " W " in line}
    hidden = sorted(expected - exported)
    surplus = sorted(exported - expected - documented(weak, classes, free))
    for name in hidden:
        print(f"{name} of a public header is not exported: add it to libgdr/exports.map")
    for name in surplus:
        print(f"{name} is exported, but in no header: narrow its pattern in libgdr/exports.map")
    if hidden or surplus:
        sys.exit(1)
    print(f"{len(exported)} names, {len(internal)} of them for libraries of this build")


main(*sys.argv[1:])
