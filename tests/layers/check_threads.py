#!/usr/bin/env python3
"""Checks that threads come from emulator/host only, whose rules (threads.hpp) hold for all of them.

usage: check_threads.py ROOT
"""

from __future__ import annotations

import pathlib
import re
import sys

# The folder that starts threads, and those that must use it.
WRAPPER = "emulator/host"
FOLDERS = ("emulator", "kernels", "libgdr", "python", "examples", "bench")

# Regions and the number of threads of OpenMP, and threads of the library and the system. Loops that
# OpenMP only vectorises are free.
THREADS = re.compile(
    r"#\s*pragma omp(?! simd\b)|\bomp_[a-z]|<omp\.h>|\bstd::(?:jthread|async)\b"
    r"|\bstd::thread\b(?!::)|\bpthread_create\b"
)

# Files that have threads of their own, and why.
EXCEPTIONS = {
    "bench/native/native.cpp": "the loop of OpenMP that a user would write, to compare with",
    "bench/pair_laws/loops.cpp": "the same",
    "bench/pair_laws/vectors.cpp": "the same",
    "bench/programs/grape.cpp": "a client with threads of its own",
    "bench/small_calls.cpp": "a client with threads of its own",
    "examples/timeline.cpp": "a program of a user",
    "libgdr/cli/bug_report.cpp": "prints what OpenMP reports",
}


def findings(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers that start or count threads."""
    return [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if THREADS.search(re.sub(r"//.*", "", line))
    ]


def check(root: pathlib.Path) -> list[str]:
    errors = []
    used = set()
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix not in (".cpp", ".hpp", ".h", ".c") or name.startswith(WRAPPER + "/"):
                continue
            found = findings(file.read_text(encoding="utf-8"))
            if name in EXCEPTIONS:
                used.update([name] if found else [])
                continue
            errors += [f"{name}:{number}: {line}" for number, line in found]
    if errors:
        errors.append(f"use the threads of {WRAPPER} (threads.hpp, parallel.hpp, loop_threads.hpp)")
    errors += [f"{name} has no threads; remove it here" for name in EXCEPTIONS if name not in used]
    return errors


def check_itself() -> None:
    """The pattern finds every way to have threads, and nothing else."""
    for line in (
        "#pragma omp parallel for",
        "#pragma omp critical(x)",
        "const int n = omp_get_max_threads();",
        "#include <omp.h>",
        "std::thread t([] {});",
        "  std::jthread thread_;",
        "auto f = std::async(work);",
        "pthread_create(&t, nullptr, run, nullptr);",
    ):
        assert findings(line), line
    for line in (
        "#pragma omp simd reduction(+ : sum)",
        "std::thread::hardware_concurrency()",
        "std::this_thread::yield();",
        "// unlike std::thread",
    ):
        assert not findings(line), line


def main() -> int:
    check_itself()
    errors = check(pathlib.Path(sys.argv[1]))
    print("\n".join(errors) or f"all threads come from {WRAPPER}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
