#!/usr/bin/env python3
"""Checks that what has one place in the product is used from there only.

usage: check_places.py ROOT threads|numbers

threads: emulator/host, whose rules (threads.hpp) hold for all of them. numbers: texts become numbers in
emulator/host/parse_number.hpp, the same in every locale.
"""

from __future__ import annotations

import pathlib
import re
import sys
from typing import NamedTuple


class Rule(NamedTuple):
    """A pattern that only the files of one place may have."""

    place: str  #: beginning of the paths of these files
    folders: tuple[str, ...]  #: folders that are searched
    pattern: re.Pattern[str]
    exceptions: dict[str, str]  #: other files that have it, and why
    advice: str
    found: tuple[str, ...]  #: lines that the pattern finds
    free: tuple[str, ...]  #: lines that it does not


RULES = {
    "threads": Rule(
        place="emulator/host/",
        folders=("emulator", "kernels", "libgdr", "python", "examples", "bench"),
        # Regions and the number of threads of OpenMP, and threads of the library and the system.
        # Loops that OpenMP only vectorises are free.
        pattern=re.compile(
            r"#\s*pragma omp(?! simd\b)|\bomp_[a-z]|<omp\.h>|\bstd::(?:jthread|async)\b"
            r"|\bstd::thread\b(?!::)|\bpthread_create\b"
        ),
        exceptions={
            "bench/native/native.cpp": "the loop of OpenMP that a user would write, to compare with",
            "bench/pair_laws/loops.cpp": "the same",
            "bench/pair_laws/vectors.cpp": "the same",
            "bench/programs/grape.cpp": "a client with threads of its own",
            "bench/small_calls.cpp": "a client with threads of its own",
            "examples/timeline.cpp": "a program of a user",
            "libgdr/cli/bug_report.cpp": "prints what OpenMP reports",
        },
        advice="use the threads of emulator/host (threads.hpp, parallel.hpp, loop_threads.hpp)",
        found=(
            "#pragma omp parallel for",
            "#pragma omp critical(x)",
            "const int n = omp_get_max_threads();",
            "#include <omp.h>",
            "std::thread t([] {});",
            "  std::jthread thread_;",
            "auto f = std::async(work);",
            "pthread_create(&t, nullptr, run, nullptr);",
        ),
        free=(
            "#pragma omp simd reduction(+ : sum)",
            "std::thread::hardware_concurrency()",
            "std::this_thread::yield();",
            "// unlike std::thread",
        ),
    ),
    "numbers": Rule(
        place="emulator/host/parse_number.",
        folders=("emulator", "kernels", "libgdr", "python"),
        pattern=re.compile(
            r"\bfrom_chars\b|\bsto(?:i|l|ll|ul|ull|f|d|ld)\(|\bato(?:i|l|ll|f)\(|\bv?f?sscanf\("
            r"|\bstrto(?:l|ll|ul|ull|f|d|ld)\("
        ),
        exceptions={
            "emulator/numeric/convert.cpp": "the number in a conversion's name; includes no other folder",
        },
        advice="use parse_all, take_number, parse_decimal or parse_hexadecimal of parse_number.hpp",
        found=(
            "const auto [end, error] = std::from_chars(first, last, x);",
            "const int n = std::stoi(text);",
            "x = std::stod(match[1]);",
            "n = atoi(argv[1]);",
            "n = std::strtoul(argv[1], nullptr, 10);",
            'sscanf(text, "%d", &n);',
        ),
        free=("std::to_chars(first, last, x);", "// unlike std::stod(text)", "store(x);"),
    ),
}


def findings(rule: Rule, text: str) -> list[tuple[int, str]]:
    """Lines with their numbers that have the pattern."""
    return [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if rule.pattern.search(re.sub(r"//.*", "", line))
    ]


def check(rule: Rule, root: pathlib.Path) -> list[str]:
    errors = []
    used = set()
    for folder in rule.folders:
        for file in sorted((root / folder).rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix not in (".cpp", ".hpp", ".h", ".c") or name.startswith(rule.place):
                continue
            found = findings(rule, file.read_text(encoding="utf-8"))
            if name in rule.exceptions:
                used.update([name] if found else [])
                continue
            errors += [f"{name}:{number}: {line}" for number, line in found]
    if errors:
        errors.append(rule.advice)
    unused = [name for name in rule.exceptions if name not in used]
    return errors + [f"{name} needs no exception; remove it here" for name in unused]


def check_itself(rule: Rule) -> None:
    """The pattern finds every way to do it, and nothing else."""
    for line in rule.found:
        assert findings(rule, line), line
    for line in rule.free:
        assert not findings(rule, line), line


def main() -> int:
    rule = RULES[sys.argv[2]]
    check_itself(rule)
    errors = check(rule, pathlib.Path(sys.argv[1]))
    print("\n".join(errors) or f"{sys.argv[2]} come from {rule.place} only")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
