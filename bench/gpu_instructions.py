#!/usr/bin/env python3
"""Instructions of an exact interaction on an NVIDIA GPU, without one.

usage: python bench/gpu_instructions.py [--kernels NAME...] [--cuda DIR] [--nvrtc LIBRARY]
                                        [--clang PROGRAM]

Runs each kernel of the library on the engine gpu-exact with a few particles (any OpenCL device will
do), which writes the OpenCL text of its loop; compiles that with clang for nvptx64 and, if ptxas and
nvdisasm are in DIR (PyPI's nvidia-cuda-nvcc and nvidia-cuda-nvdisasm have them), to machine code for
sm_90. Prints registers, spilled bytes, and for each interaction the instructions of the loop, and how
many of them are on doubles. With an NVRTC library (PyPI's nvidia-cuda-nvrtc-cu12 has one), the machine
code is NVRTC's, as with CUDA, instead of clang's. clang also compiles every text for amdgcn. Needs libclc.
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
from nvrtc import Nvrtc

ARCHITECTURE = "sm_90"
TARGETS = 64
LIBRARY = "/usr/lib/clc/nvptx64--nvidiacl.bc"


def write_texts(name: str, folder: pathlib.Path) -> int:
    """Runs a kernel on some particles; returns the number of block runs on the device."""
    os.environ["GDR_GPU_TEXT"] = str(folder)
    kernel = gdr.builtin(name)
    random = np.random.default_rng(1)
    try:
        device = gdr.open("emulator", engine="gpu-exact")
    except gdr.UnsupportedError as error:
        print(error)
        sys.exit(77)
    job = device.job(kernel)
    columns: dict[str, dict[str, object]] = {"target": {}, "source": {}}
    for v in kernel.variables:
        if v.role == "param":
            job.set(**{v.name: 0.01})
        elif v.role in columns:
            integers = v.type.startswith(("int", "uint"))
            values = np.arange(TARGETS) if integers else random.uniform(0.5, 1.5, TARGETS)
            columns[v.role][v.name] = values.astype(v.type)
    job.sources(TARGETS, **columns["source"])
    job.targets(TARGETS, **columns["target"])
    job.run()
    return device.statistics.gpu_runs


def clang(program: str, text: pathlib.Path, target: list[str]) -> None:
    options = "-x cl -cl-std=CL1.2 -O3 -Xclang -finclude-default-header -S -o".split()
    subprocess.run([program, *options, text.with_suffix(".s"), *target, text], check=True)


def loop_of(listing: str) -> list[str]:
    """The instructions of the largest loop without a loop inside."""
    lines = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(.*?);", listing)
    at = {}
    address = 0
    for line in listing.splitlines():
        if m := re.match(r"(\.L_x_\d+):", line.strip()):
            at[m[1]] = None
        if m := re.match(r"\s*/\*([0-9a-f]{4,})\*/", line):
            address = int(m[1], 16)
            for label in at:
                if at[label] is None:
                    at[label] = address
    loops = []
    for where, instruction in lines:
        if m := re.search(r"BRA.*?(\.L_x_\d+)", instruction):
            begin, end = at.get(m[1]), int(where, 16)
            if begin is not None and begin < end:
                loops.append((begin, end))
    innermost = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    begin, end = max(innermost, key=lambda l: l[1] - l[0])
    return [i for where, i in lines if begin <= int(where, 16) <= end]


def machine_code(
    text: pathlib.Path, cuda: pathlib.Path, nvrtc: Nvrtc | None
) -> tuple[pathlib.Path, str]:
    """The file of a text's machine code, and what ptxas says about it."""
    code = text.with_suffix(".cubin")
    if nvrtc is not None:
        binary, told = nvrtc.compile(text.read_text(), ARCHITECTURE)
        code.write_bytes(binary)
        return code, told
    ptxas = [cuda / "ptxas", "-v", "-arch=" + ARCHITECTURE, "-o", code, text.with_suffix(".s")]
    return code, subprocess.run(ptxas, check=True, capture_output=True, text=True).stderr


def measured(
    text: pathlib.Path, cuda: pathlib.Path, nvrtc: Nvrtc | None, interactions: float
) -> str:
    code, told = machine_code(text, cuda, nvrtc)
    registers = re.search(r"Used (\d+) registers", told)[1]
    spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", told))
    listing = subprocess.run(
        [cuda / "nvdisasm", "-c", code], check=True, capture_output=True, text=True
    ).stdout
    loop = loop_of(listing)
    doubles = [i for i in loop if re.search(r"\bD(ADD|MUL|FMA|SETP|MNMX)", i)]
    return (
        f"{registers:>9} {spilled:>8} {len(loop) / interactions:>13.0f}"
        f" {len(doubles) / interactions:>11.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", nargs="*", default=list(gdr.builtin_names()))
    parser.add_argument("--cuda", type=pathlib.Path, help="folder of ptxas and nvdisasm")
    parser.add_argument(
        "--nvrtc", type=Nvrtc, help="NVRTC library (libnvrtc.so.12) to use instead of clang"
    )
    parser.add_argument("--clang", default="clang-15")
    options = parser.parse_args()
    if shutil.which(options.clang) is None or not pathlib.Path(LIBRARY).exists():
        print(f"{options.clang} or {LIBRARY} is missing: install clang-15 and libclc-15")
        sys.exit(77)
    print(f"{'kernel':28} registers  spilled  instructions  on doubles   ({ARCHITECTURE})")
    for name in options.kernels:
        with tempfile.TemporaryDirectory() as folder:
            runs = write_texts(name, pathlib.Path(folder))
            texts = [t for t in pathlib.Path(folder).glob("*.cl") if "passes" in t.read_text()]
            if not runs or not texts:
                print(f"{name:28} not on the GPU")
                continue
            text = max(texts, key=lambda t: int(t.stem))
            clang(options.clang, text, ["-target", "amdgcn--amdhsa", "-mcpu=gfx900", "-nogpulib"])
            clang(
                options.clang,
                text,
                ["-target", "nvptx64--nvidiacl", "-Xclang", "-target-cpu", "-Xclang", "sm_80"]
                + ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBRARY],
            )
            assembly = gdr.builtin(name).assembly
            of = {key: int(n) for key, n in re.findall(r"^\.(group|elements) (\d+)", assembly, re.M)}
            # A thread has one target, or, where elements exchange words, all of its PE.
            alone = "one element of a PE" in text.read_text()
            together = 1 if alone else of["elements"]
            interactions = of["group"] * together
            told = " compiled by clang"
            if options.cuda:
                told = measured(text, options.cuda, options.nvrtc, interactions)
            print(f"{name:28}{told}")


if __name__ == "__main__":
    main()
