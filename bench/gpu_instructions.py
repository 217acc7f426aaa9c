#!/usr/bin/env python3
"""Instructions of an interaction on an NVIDIA GPU, without one.

usage: python bench/gpu_instructions.py [--engines NAME...] [--kernels NAME...] [--cuda DIR]
                                        [--nvrtc LIBRARY] [--clang PROGRAM]

Runs each kernel of the library on the engines gpu, gpu-float and gpu-exact with a few particles (any
OpenCL device will do), which write the OpenCL text of their loops; compiles that with clang for nvptx64
and, if ptxas and nvdisasm are in DIR (PyPI's nvidia-cuda-nvcc and nvidia-cuda-nvdisasm have them), to
machine code for sm_90. With an NVRTC library (PyPI's nvidia-cuda-nvrtc-cu12 has one), the machine code
is NVRTC's, as with CUDA, instead of clang's. Prints registers, spilled bytes, and for each interaction
the instructions on the shortest way through the loop, and how many of them are on doubles. Branches
that are rarely taken are not on this way; the last column is the loop with all of them. clang also
compiles every text for amdgcn. Needs libclc.
"""

from __future__ import annotations

import argparse
import collections
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


def write_texts(engine: str, name: str, folder: pathlib.Path) -> int:
    """Runs a kernel on some particles; returns the number of block runs on the device."""
    os.environ["GDR_GPU_TEXT"] = str(folder)
    kernel = gdr.builtin(name)
    random = np.random.default_rng(1)
    try:
        device = gdr.open("emulator", engine=engine)
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


def instructions_of(listing: str) -> tuple[list[str], dict[str, int]]:
    """The instructions of a program, and the number of the one behind each label."""
    instructions: list[str] = []
    labels: dict[str, int] = {}
    waiting: list[str] = []
    for line in listing.splitlines():
        if m := re.match(r"(\.L_x_\d+):", line.strip()):
            waiting.append(m[1])
        elif m := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);", line):
            labels.update((label, len(instructions)) for label in waiting)
            waiting = []
            instructions.append(m[1])
    return instructions, labels


def branch_of(instruction: str, labels: dict[str, int]) -> int | None:
    """Where a branch goes."""
    m = re.search(r"\bBRA\b.*?(\.L_x_\d+)", instruction)
    return labels.get(m[1]) if m else None


def is_conditional(instruction: str) -> bool:
    return instruction.startswith("@") or re.search(r"\bBRA(\.\w+)* !?U?P\d", instruction) is not None


def shortest_way(instructions: list[str], labels: dict[str, int], begin: int, end: int) -> list[str]:
    """The fewest instructions from the beginning of a loop to its last one; none if there is no way."""
    reached_from = {begin: begin}
    front = collections.deque([begin])
    while front and end not in reached_from:
        n = front.popleft()
        to = branch_of(instructions[n], labels)
        following = [] if to is None else [to]
        if to is None or is_conditional(instructions[n]):
            following.append(n + 1)
        for m in following:
            if begin <= m <= end and m not in reached_from:
                reached_from[m] = n
                front.append(m)
    if end not in reached_from:
        return []
    way = [end]
    while way[-1] != begin:
        way.append(reached_from[way[-1]])
    return [instructions[n] for n in reversed(way)]


def main_loop(listing: str) -> tuple[list[str], int]:
    """Of the loops without a loop inside, the one with the longest shortest way: this way, and the number
    of all its instructions."""
    instructions, labels = instructions_of(listing)
    loops = []
    for n, instruction in enumerate(instructions):
        to = branch_of(instruction, labels)
        if to is not None and to <= n:
            loops.append((to, n))
    innermost = [l for l in loops if not any(o != l and l[0] <= o[0] and o[1] <= l[1] for o in loops)]
    ways = [(shortest_way(instructions, labels, *l), l[1] - l[0] + 1) for l in innermost]
    return max(ways, key=lambda w: len(w[0]))


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
    registers = max(int(n) for n in re.findall(r"Used (\d+) registers", told))
    spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", told))
    listing = subprocess.run(
        [cuda / "nvdisasm", "-c", code], check=True, capture_output=True, text=True
    ).stdout
    way, size = main_loop(listing)
    doubles = [i for i in way if re.search(r"\bD(ADD|MUL|FMA|SETP|MNMX)", i)]
    return (
        f"{registers:>9} {spilled:>8} {len(way) / interactions:>13.0f}"
        f" {len(doubles) / interactions:>11.0f} {size / interactions:>9.0f}"
    )


def interactions_of(engine: str, name: str, text: str) -> float:
    """Of a thread's pass."""
    kernel = gdr.builtin(name)
    of = {key: int(n) for key, n in re.findall(r"^\.(group|elements) (\d+)", kernel.assembly, re.M)}
    if engine == "gpu-exact":
        # A thread has one target, or, where elements exchange words, all of its PE.
        return of["group"] * (1 if "one element of a PE" in text else of["elements"])
    # Floats may have groups of fewer sources.
    words = int(re.search(r"source \+= (\d+);", text)[1])
    variables = sum(v.role == "source" for v in kernel.variables)
    sources = max(1, min(of["group"], words // variables))
    # The loop without rare conditions has several passes.
    copies = max(int(n) for n in re.findall(r"remaining >= (\d+)u", text))
    return sources * copies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", nargs="*", default=["gpu", "gpu-float", "gpu-exact"])
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
    print(
        f"{'engine':10} {'kernel':28} registers  spilled  instructions  on doubles  with all"
        f" branches   ({ARCHITECTURE})"
    )
    for engine in options.engines:
        for name in options.kernels:
            with tempfile.TemporaryDirectory() as folder:
                runs = write_texts(engine, name, pathlib.Path(folder))
                # The loop of gpu-exact is longer than its program for sources.
                texts = [t for t in pathlib.Path(folder).glob("*.cl") if "ulong passes" in t.read_text()]
                if not runs or not texts:
                    print(f"{engine:10} {name:28} not on the GPU", flush=True)
                    continue
                text = max(texts, key=lambda t: int(t.stem))
                clang(options.clang, text, ["-target", "amdgcn--amdhsa", "-mcpu=gfx900", "-nogpulib"])
                clang(
                    options.clang,
                    text,
                    ["-target", "nvptx64--nvidiacl", "-Xclang", "-target-cpu", "-Xclang", "sm_80"]
                    + ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBRARY],
                )
                told = " compiled by clang"
                if options.cuda:
                    interactions = interactions_of(engine, name, text.read_text())
                    told = measured(text, options.cuda, options.nvrtc, interactions)
                print(f"{engine:10} {name:28}{told}", flush=True)


if __name__ == "__main__":
    main()
