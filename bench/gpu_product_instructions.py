#!/usr/bin/env python3
"""Instructions of matrix products on an NVIDIA GPU, without one.

usage: python bench/gpu_product_instructions.py --cuda DIR [--clang PROGRAM]

Multiplies matrices on the GPU engines (any OpenCL device will do), which writes the OpenCL text of
their kernels; compiles that with clang for nvptx64, and with ptxas and nvdisasm in DIR (PyPI's
nvidia-cuda-nvcc and nvidia-cuda-nvdisasm have them) to machine code for sm_90. Prints registers,
spilled bytes, and the instructions of the loop with the most fused multiply-adds, with how many of
them are such, and how many are on doubles. clang also compiles every text for amdgcn. Needs libclc.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

os.environ["GDR_GPU_PAIRS"] = "0"
import numpy as np

import gdr

ARCHITECTURE = "sm_90"
LIBRARY = "/usr/lib/clc/nvptx64--nvidiacl.bc"
ENGINES = ("gpu", "gpu-float", "gpu-exact")


def write_texts(engine: str, folder: pathlib.Path) -> bool:
    """Multiplies two matrices; returns whether that ran on the device."""
    os.environ["GDR_GPU_TEXT"] = str(folder)
    x = np.random.default_rng(1).uniform(-1, 1, (64, 64))
    try:
        device = gdr.open("emulator", engine=engine)
    except gdr.UnsupportedError as error:
        print(error)
        sys.exit(77)
    gdr.linalg.matmul(x, x, device=device)
    return device.statistics.gpu_runs > 0


def clang(program: str, text: pathlib.Path, target: list[str]) -> None:
    options = "-x cl -cl-std=CL1.2 -O3 -Xclang -finclude-default-header -S -o".split()
    subprocess.run([program, *options, text.with_suffix(".s"), *target, text], check=True)


def innermost_loops(listing: str) -> list[list[str]]:
    labels: dict[str, int | None] = {}
    lines = []
    for line in listing.splitlines():
        if m := re.match(r"(\.L_x_\d+):", line.strip()):
            labels[m[1]] = None
        if m := re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?);", line):
            address = int(m[1], 16)
            lines.append((address, m[2]))
            labels = {k: address if at is None else at for k, at in labels.items()}
    loops = []
    for end, instruction in lines:
        if m := re.search(r"BRA.*?(\.L_x_\d+)", instruction):
            begin = labels.get(m[1])
            if begin is not None and begin < end:
                loops.append((begin, end))
    inner = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    return [[i for at, i in lines if begin <= at <= end] for begin, end in inner]


def count(loop: list[str], pattern: str) -> int:
    return sum(1 for instruction in loop if re.search(pattern, instruction))


def measured(text: pathlib.Path, cuda: pathlib.Path) -> str:
    code = text.with_suffix(".cubin")
    ptxas = [cuda / "ptxas", "-v", "-arch=" + ARCHITECTURE, "-o", code, text.with_suffix(".s")]
    told = subprocess.run(ptxas, check=True, capture_output=True, text=True).stderr
    registers = re.search(r"Used (\d+) registers", told)[1]
    spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", told))
    listing = subprocess.run(
        [cuda / "nvdisasm", "-c", code], check=True, capture_output=True, text=True
    ).stdout
    fused = r"\b[DF]FMA\b"
    loop = max(innermost_loops(listing), key=lambda l: count(l, fused))
    doubles = count(loop, r"\bD(ADD|MUL|FMA|SETP|MNMX)\b")
    return f"{registers:>9} {spilled:>8} {len(loop):>13} {count(loop, fused):>6} {doubles:>11}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuda", type=pathlib.Path, required=True)
    parser.add_argument("--clang", default="clang-15")
    options = parser.parse_args()
    if shutil.which(options.clang) is None or not pathlib.Path(LIBRARY).exists():
        print(f"{options.clang} or {LIBRARY} is missing: install clang-15 and libclc-15")
        sys.exit(77)
    print(f"{'engine':10} registers  spilled  instructions  fused  on doubles   ({ARCHITECTURE})")
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            if not write_texts(engine, pathlib.Path(folder)):
                print(f"{engine:10} not on the GPU")
                continue
            for text in pathlib.Path(folder).glob("*.cl"):
                if "get_group_id" not in text.read_text():
                    continue
                amd = ["-target", "amdgcn--amdhsa", "-mcpu=gfx900", "-nogpulib"]
                clang(options.clang, text, amd)
                nvidia = ["-target", "nvptx64--nvidiacl", "-Xclang", "-target-cpu", "-Xclang"]
                nvidia += ["sm_80", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBRARY]
                clang(options.clang, text, nvidia)
                print(f"{engine:10}{measured(text, options.cuda)}")


if __name__ == "__main__":
    main()
