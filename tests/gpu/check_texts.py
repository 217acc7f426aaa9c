#!/usr/bin/env python3
"""The text of every GPU kernel compiles for NVIDIA's and AMD's cards, and none spills registers.

usage: check_texts.py GDR_PROGRAM

Skipped (status 77) where `gdr bench gpu-instructions` finds no OpenCL device or no clang with libclc.
Without ptxas and nvdisasm, texts are compiled only.
"""

import json
import subprocess
import sys

done = subprocess.run(
    [sys.argv[1], "bench", "gpu-instructions", "--json"], capture_output=True, text=True
)
if done.returncode != 0:
    sys.exit(done.stderr or f"gdr bench gpu-instructions ended with status {done.returncode}")
figures = json.loads(done.stdout)["figures"]
for figure in figures:
    if figure["comment"].startswith("not measured"):
        print(figure["comment"])
        sys.exit(77)
compiled = [f for f in figures if f["unit"] == "instructions" or "compiled" in f["comment"]]
counted = [f for f in figures if "further" in f]
missed = [f"{f['name']}: {f['value']}, {f['comment']}" for f in figures if f.get("met") is False]
print(f"{len(compiled)} texts compiled, {len(counted)} counted")
if len(compiled) < 20:
    sys.exit("fewer than 20 kernels have a text: the benchmark does not find them")
if missed:
    sys.exit("requirements missed: " + "; ".join(missed))
