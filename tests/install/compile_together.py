"""Parses the library, the command and its benchmarks as builds for users compile them, several files of a folder
together (cmake/compile_time.cmake): names in a target must not clash, however its files are divided.

usage: compile_together.py SOURCE BINARY [CMAKE_OPTION...]
"""

import concurrent.futures
import json
import shlex
import subprocess
import sys
from pathlib import Path

PROCESSES = 2


def configure(source: str, binary: str, options: list[str]) -> None:
    command = ["cmake", "-S", source, "-B", binary, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"]
    command += ["-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_CXX_FLAGS=-w", "-DGDR_TESTS=OFF", "-DGDR_PYTHON=OFF"]
    command += ["-DGDR_FILES_TOGETHER=1000", "-DGDR_BENCH=OFF", "-DGDR_FORTRAN=OFF", "-DGDR_MPI=OFF", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def output_of(command: str) -> str:
    words = shlex.split(command)
    return words[words.index("-o") + 1]


def errors_in(command: str, binary: str) -> str:
    """The compiler's messages about a file that does not compile; else nothing."""
    words = shlex.split(command)
    del words[words.index("-o") : words.index("-o") + 2]
    words[words.index("-c")] = "-fsyntax-only"
    run = subprocess.run(words, cwd=binary, capture_output=True, text=True)
    return "" if run.returncode == 0 else run.stderr or f"{command}: status {run.returncode}"


def main() -> int:
    source, binary, *options = sys.argv[1:]
    configure(source, binary, options)
    rows = json.loads((Path(binary) / "compile_commands.json").read_text())
    together = [row["command"] for row in rows if "/together/" in row["file"]]
    outputs = [output_of(row["command"]) for row in rows]
    headers = [name for name in outputs if name.endswith(".gch") or name.endswith(".pch")]
    if not together or not headers:
        print(f"compile_together: {len(together)} files of several, {len(headers)} precompiled headers")
        return 1
    subprocess.run(["cmake", "--build", binary, "-j", str(PROCESSES), "--target", *headers], check=True)
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        errors = [text for text in pool.map(lambda command: errors_in(command, binary), together) if text]
    for text in errors:
        print(text)
    print(f"compile_together: {len(together)} files of several, {len(errors)} with errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
