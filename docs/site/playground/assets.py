#!/usr/bin/env python3
"""The files of the playground: builds its engine with emscripten, and copies all files to a folder.

usage: docs/site/playground/assets.py OUTPUT

OUTPUT becomes a page of its own, for any static file server (python3 -m http.server -d OUTPUT); the
documentation site uses the functions of this module.
"""

from __future__ import annotations

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]



def markup(folder: str = "") -> str:
    """The playground in a page, which is in the folder of the files, or has them in this one."""
    return f"""<link rel="stylesheet" href="{folder}playground.css">
<div id="gdr-playground"><noscript>The playground needs JavaScript and WebAssembly.</noscript></div>
<script type="module" src="{folder}playground.js"></script>"""


# Kernels of the library, one to begin with, and the exercises of the course that are kernels.
EXAMPLES = [
    ("gravity", "Gravity", "kernels/particle/gravity_potential.gdk"),
    ("lennard_jones", "Lennard-Jones", "kernels/particle/lennard_jones.gdk"),
    ("morse", "Morse", "kernels/particle/morse.gdk"),
    ("coulomb", "Coulomb", "kernels/particle/coulomb.gdk"),
    ("gauss_sum", "Sum of Gaussians", "kernels/particle/gauss_sum.gdk"),
    ("sph_density", "SPH density", "kernels/particle/sph_density.gdk"),
    ("own", "A law of your own", "docs/site/playground/own.gdk"),
    ("gravity_assembly", "Gravity, in assembly", "kernels/particle/gravity.gds"),
    ("exercise_1", "Exercise 1: masks", "examples/course/exercises/1_masks.gds"),
    ("exercise_2", "Exercise 2: precision", "examples/course/exercises/2_precision.gds"),
    ("exercise_3", "Exercise 3: pipeline", "examples/course/exercises/3_pipeline.gds"),
    ("exercise_4", "Exercise 4: reduction", "examples/course/exercises/4_reduction.gds"),
    ("exercise_5", "Exercise 5: a law and its force", "examples/course/exercises/5_law.gdk"),
]


def task_of(text: str) -> str:
    """What an exercise asks for: its first comment, without the title."""
    lines = []
    for line in text.splitlines():
        if not line.startswith(("#", "//")):
            break
        lines.append(line.lstrip("#/ "))
    return " ".join(lines).partition(". ")[2]


def exercises() -> str:
    """The exercises as a list, whose links open them in the playground of the page."""
    rows = []
    for name, title, path in EXAMPLES:
        if name.startswith("exercise"):
            task = html.escape(task_of((SOURCE / path).read_text(encoding="utf-8")), quote=False)
            task = re.sub(r"`([^`]*)`", r"<code>\1</code>", task)
            place = f"example={name}"
            rows.append(f'<li id="{place}"><a href="#{place}">{title}</a>. {task}</li>')
    return "<ul>\n" + "\n".join(rows) + "\n</ul>"


def missing() -> str:
    """What the build of the engine lacks on this host; empty if nothing."""
    for program, package in (("emcc", "emscripten"), ("cmake", "cmake"), ("ninja", "ninja-build")):
        if shutil.which(program) is None:
            return f"{program} is missing (package {package})"
    return ""


def build_engine() -> pathlib.Path:
    """Builds engine.js and engine.wasm; returns their folder. Takes some minutes the first time."""
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 2)
    build = ["cmake", "--build", "--preset", "wasm", "-j", jobs]
    for command in (["cmake", "--preset", "wasm"], build):
        done = subprocess.run(command, check=False, cwd=SOURCE, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return SOURCE / "build/wasm/docs/site/playground"


def write(folder: pathlib.Path) -> None:
    """Writes all files of the playground, except its page, to a folder."""
    engine = build_engine()
    folder.mkdir(parents=True, exist_ok=True)
    for file in [*HERE.glob("*.js"), HERE / "playground.css"]:
        shutil.copy(file, folder)
    for name in ("engine.js", "engine.wasm"):
        shutil.copy(engine / name, folder)
    examples = [
        {
            "name": name,
            "title": title,
            "language": pathlib.Path(path).suffix[1:],
            "text": (SOURCE / path).read_text(encoding="utf-8"),
        }
        for name, title, path in EXAMPLES
    ]
    (folder / "examples.json").write_text(json.dumps(examples), encoding="utf-8")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lacks = missing()
    if lacks:
        sys.exit(f"the playground cannot be built: {lacks}")
    folder = pathlib.Path(sys.argv[1])
    write(folder)
    (folder / "index.html").write_text(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>GDR playground</title>\n'
        '<link rel="icon" href="data:,">\n'
        "<style>html { font-size: 125%; color-scheme: light; } body { margin: 1rem auto; "
        "max-width: 76rem; padding: 0 1rem; font-family: system-ui, sans-serif; }</style>\n"
        f"<h1>GDR playground</h1>\n{markup()}\n</html>\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
