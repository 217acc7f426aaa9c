#!/usr/bin/env python3
"""Makes the source distribution for PyPI, which builds on a machine with a compiler and Python, without root.

It has the files of the repository, and in third_party/ the libraries that consist of headers, with their licences, as
this host has them: those of dependencies.toml with a key `carried`. cmake/dependencies.cmake uses them. Equal sources
and equal packages give equal bytes: times are those of the last commit, or SOURCE_DATE_EPOCH.

usage: sdist.py SOURCE_DIR OUTPUT_DIR
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

HEADERS = ["/usr/include", "/usr/local/include"]
LICENCES = "/usr/share/doc/{package}/copyright"
BUILD = "import sys, scikit_build_core.build as backend; print(backend.build_sdist(sys.argv[1]))"


def commit_time(source: pathlib.Path) -> str:
    """SOURCE_DATE_EPOCH, else the time of the last commit, else that of the file CHANGELOG.md, which an archive
    keeps when it is unpacked."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    command = ["git", "-C", str(source), "log", "-1", "--format=%ct"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return found or str(int((source / "CHANGELOG.md").stat().st_mtime))


def copy_sources(source: pathlib.Path, to: pathlib.Path) -> None:
    """The files that git knows, as they are now; without a repository all but builds."""
    listed = subprocess.run(
        ["git", "-C", str(source), "ls-files", "-z", "--cached"],
        capture_output=True,
        text=True,
    )
    if listed.returncode or not listed.stdout:  # also not where the folder is in another repository
        ignored = shutil.ignore_patterns("build", "__pycache__", ".git")
        shutil.copytree(source, to, dirs_exist_ok=True, symlinks=True, ignore=ignored)
        return
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).exists():  # not deleted since
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, to / name, follow_symlinks=False)


def carry(name: str, row: dict[str, str], to: pathlib.Path) -> None:
    """The headers of a library, and its licence."""
    found = [pathlib.Path(f) / row["carried"] for f in HEADERS]
    headers = next((folder for folder in found if folder.is_dir()), None)
    licence = pathlib.Path(LICENCES.format(package=row["debian"]))
    if headers is None or not licence.exists():
        sys.exit(f"sdist.py: headers or licence of {name} are missing; install {row['debian']}")
    shutil.copytree(headers, to / name / "include" / row["carried"])
    shutil.copy(licence, to / name / "copyright")


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    output.mkdir(parents=True, exist_ok=True)
    tools = output.parent / "sdist-tools"
    if not (tools / "bin/pip").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(tools)], check=True)
    packages = ["scikit-build-core>=0.10", "pybind11>=2.10"]
    pip = [str(tools / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, *packages]).returncode:
        sys.exit("sdist.py: PyPI's scikit-build-core is needed, and cannot be installed")
    table = tomllib.loads((source / "cmake/packaging/dependencies.toml").read_text())
    for old in output.glob("gdr-*.tar.gz"):
        old.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "gdr"
        copy_sources(source, tree)
        # An unpacked source distribution has them already, perhaps of another host.
        shutil.rmtree(tree / "third_party", ignore_errors=True)
        for name, row in table.items():
            if "carried" in row:
                carry(name, row, tree / "third_party")
        made = subprocess.run(
            [str(tools / "bin/python"), "-c", BUILD, str(output)],
            cwd=tree, check=True, capture_output=True, text=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": commit_time(source)},
        )  # fmt: skip
    file = output / made.stdout.split()[-1]
    print(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
