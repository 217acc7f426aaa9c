#!/usr/bin/env python3
"""Executes the recipe of HACKING.md for a function of the kernel language.

Applies its changes to a copy of the kernel compiler, builds that, compiles kernels that call the
new function and differentiate it, in shorts and in longs, and compares their results on the
command's engines with the functions of the host. So the recipe names every place that has to
change, and changes them as they are.

usage: add_function.py ROOT FOLDER --command GDR --compiler CXX --links FILE...
"""

from __future__ import annotations

import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

RECIPE = "**Add a function of the kernel language.**"
COMPILER = "kernels/compiler"
NAME = "cosh"
#: What kernels compute of a, and its value on the host.
CALLS = {"cosh(a)": math.cosh, "grad(cosh(a), a)": math.sinh}
PLACES = (0.0, 1e-3, -0.3, 1.0, -2.5, 7.0, 20.0, 90.0)

#: Compiles a file without a search for a short loop.
PROGRAM = """#include <cstdio>
#include <fstream>
#include "kernels/compiler/cache/compilation.hpp"
#include "kernels/compiler/compiler.hpp"
std::string_view gdr::kc::compiler_version() noexcept { return "recipe"; }
int main(int, char** names) {
  gdr::CompileOptions options;
  options.pipeline = options.cache = false;
  const gdr::CompileResult made = gdr::compile_kernel_file(names[1], options);
  std::fputs(made.diagnostics.render().c_str(), stderr);
  if (!made.ok()) return 1;
  std::ofstream(names[2]) << made.assembly;
}
"""


def changes(text: str) -> list[tuple[str, list[str], list[str]]]:
    """The changes of a recipe: file, the lines that it has, and the lines that replace them. After
    a line that is added, one that is removed begins the next change of the file."""
    found: list[tuple[str, list[str], list[str]]] = []
    for block in re.findall(r"^```diff\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        before = ""
        for line in block.splitlines():
            if line.startswith("--- ") or (before == "+" and line[:1] == "-"):
                found.append((line[4:] if line.startswith("--- ") else found[-1][0], [], []))
            before = line[:1]
            if line.startswith("--- "):
                continue
            if line[:1] in (" ", "-"):
                found[-1][1].append(line[1:])
            if line[:1] in (" ", "+"):
                found[-1][2].append(line[1:])
    return found


def apply(folder: pathlib.Path, name: str, old: list[str], new: list[str]) -> None:
    path = folder / name
    if not old:  # a new file
        path.write_text("\n".join(new) + "\n", encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    before, after = ("\n".join(lines) + "\n" for lines in (old, new))
    if text.count(before) != 1:
        sys.exit(f"HACKING.md: {name} has these lines {text.count(before)} times:\n{before}")
    path.write_text(text.replace(before, after), encoding="utf-8")


def recipe(root: pathlib.Path) -> str:
    text = (root / "HACKING.md").read_text(encoding="utf-8")
    if RECIPE not in text:
        sys.exit(f"HACKING.md has no recipe {RECIPE}")
    return re.split(r"\n\*\*", text.split(RECIPE, 1)[1])[0]


def build(root: pathlib.Path, folder: pathlib.Path, compiler: str, links: list[str]) -> pathlib.Path:
    """The program of the changed compiler: as many sources are compiled together as in the build, which parses headers
    most seldom."""
    units = [folder / "main.cpp"]
    units[0].write_text(PROGRAM, encoding="utf-8")
    sources = sorted((folder / COMPILER).rglob("*.cpp"))
    searching = [source for source in sources if source.parent.name in ("schedule", "regalloc")]
    others = [source for source in sources if source not in searching]
    half = (len(others) + 1) // 2
    for number, together in enumerate((searching, others[:half], others[half:])):
        units.append(folder / f"unit_{number}.cpp")
        lines = "".join(f'#include "{source}"\n' for source in together)
        units[-1].write_text(lines, encoding="utf-8")
    options = ["-std=c++20", "-O0", "-ffp-contract=off", "-DFMT_SHARED", f"-I{folder}"]
    options += [f"-I{root}", f"-I{root}/emulator/include"]

    def compiled(unit: pathlib.Path) -> str:
        made = unit.with_suffix(".o")
        subprocess.run([*compiler.split(), *options, "-c", unit, "-o", made], check=True)
        return str(made)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        objects = list(threads.map(compiled, units))
    program = folder / "compile"
    subprocess.run([*compiler.split(), *objects, *links, "-o", program], check=True)
    return program


def check(folder: pathlib.Path, program: pathlib.Path, command: str) -> None:
    """Compare the function on the engines with that of the host."""
    targets, sources = folder / "targets.txt", folder / "sources.txt"
    targets.write_text("".join(f"{x!r}\n" for x in PLACES), encoding="utf-8")
    sources.write_text("0\n", encoding="utf-8")
    for kind, error in (("short", 4 * 2.0**-25), ("long", 1e-13)):
        for number, (call, function) in enumerate(CALLS.items()):
            kernel, assembly = (folder / f"{kind}_{number}{end}" for end in (".gdk", ".gds"))
            kernel.write_text(
                f"VARI {kind} x; VARJ {kind} s; VARF r;\n{kind} a = x + s;\nr += {call};\n",
                encoding="utf-8",
            )
            subprocess.run([program, kernel, assembly], check=True)
            for engine in ("reference", "vector", "native"):
                run = [command, "run", assembly, "--targets", targets, "--sources", sources]
                text = subprocess.run(
                    [*run, "--engine", engine], check=True, capture_output=True, text=True
                ).stdout
                lines = [line.split("#")[0].split() for line in text.splitlines()]
                found = [float(line[-1]) for line in lines if line]
                if len(found) != len(PLACES):
                    sys.exit(f"{engine}: expected {len(PLACES)} results:\n{text}")
                for x, result in zip(PLACES, found):
                    right = function(x)
                    # A derivative near zero is the difference of two numbers near one.
                    if abs(result - right) > error * max(abs(right), 1.0):
                        sys.exit(f"{engine}, {kind}: {call} at {x} is {result}, not {right}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--command", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--links", nargs=argparse.REMAINDER, required=True)
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    shutil.copytree(given.root / COMPILER, given.folder / COMPILER)
    found = changes(recipe(given.root))
    if not found:
        sys.exit("HACKING.md: the recipe has no changes")
    for name, old, new in found:
        apply(given.folder, name, old, new)
    program = build(given.root, given.folder.resolve(), given.compiler, given.links)
    check(given.folder, program, given.command)
    print(f"{len(found)} changes add {NAME} to the kernel language")


if __name__ == "__main__":
    main()
