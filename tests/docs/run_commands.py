#!/usr/bin/env python3
"""Runs every shell command in README and the guides.

Fenced blocks marked `sh` are run line by line in a scratch directory with links to the files of the
source tree, with the built `gdr` first in PATH. In blocks marked `console` the lines after `$ ` are
run. `make TARGET` is a dry run; `git clone`, `cd` and `pip install` are skipped. `python` is the
interpreter in GDR_DOCS_PYTHON; without that variable its commands are skipped.

usage: run_commands.py SOURCE_DIR GDR_PROGRAM PAGE...
"""

import os
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 300


def commands(page: str) -> list[tuple[int, str]]:
    """Line number and text of every command of a page, with continuation lines joined."""
    found, language, pending, start = [], None, "", 0
    with open(page, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            fence = re.match(r"\s*```(\w*)", line)
            if fence:
                language = None if language is not None else fence.group(1)
                pending = ""
                continue
            if language not in ("sh", "console"):
                continue
            line = line.rstrip("\n")
            if language == "console" and not pending:
                if not line.lstrip().startswith("$ "):
                    continue
                line = line.lstrip()[2:]
            if not pending:
                start = number
            pending += line
            if pending.endswith("\\"):
                pending = pending[:-1]
                continue
            if pending.strip() and not pending.strip().startswith("#"):
                found.append((start, pending.strip()))
            pending = ""
    return found


def runnable(command: str, source: str) -> str | None:
    """The command in the form in which it is run, or None to skip it."""
    if re.match(r"(git clone|cd|pip install) ", command):
        return None
    if re.match(r"(.*\bmpirun .*)?\bpython3? ", command):
        python = os.environ.get("GDR_DOCS_PYTHON")
        return None if not python else re.sub(r"\bpython3? ", f"'{python}' ", command, count=1)
    if re.match(r"(\w+=\S+ )*make\b", command):
        return re.sub(r"\bmake\b", f"make -n -C '{source}'", command, count=1) + " >/dev/null"
    return command


def main() -> int:
    source, gdr, *pages = sys.argv[1:]
    environment = dict(os.environ)
    environment["PATH"] = os.path.dirname(os.path.abspath(gdr)) + os.pathsep + environment["PATH"]
    environment["MAKEFLAGS"] = ""
    kernels = tempfile.TemporaryDirectory()  # commands share what they compile, as those of a reader do
    environment["GDR_CACHE_DIR"] = kernels.name
    passed = failed = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as scratch:
            for name in os.listdir(source):
                if not name.startswith(".git"):
                    os.symlink(os.path.join(source, name), os.path.join(scratch, name))
            for number, shown in commands(page):
                command = runnable(shown, source)
                if command is None:
                    continue
                # tests/mpi checks for leaks, with suppressions for the MPI libraries.
                more = {"ASAN_OPTIONS": "detect_leaks=0"} if "mpirun" in command else {}
                run = subprocess.run(
                    ["bash", "-c", "set -o pipefail; " + command],
                    cwd=scratch, env={**environment, **more}, timeout=TIMEOUT_S, check=False,
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                )
                if run.returncode == 0:
                    passed += 1
                    continue
                failed += 1
                where = os.path.relpath(page, source)
                print(f"{where}:{number}: status {run.returncode}: {shown}")
                print(run.stdout[-2000:] + run.stderr[-2000:])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
