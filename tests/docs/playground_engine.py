#!/usr/bin/env python3
"""The engine of the playground, built with emscripten and run in node: compiles a kernel and an
assembly, and computes with both engines; errors are reported as text.

usage: playground_engine.py SOURCE_DIR

Runs where emscripten and node are installed.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "docs/site/playground"))

import assets  # noqa: E402

# The scope of a worker, for which the engine is linked, and calls like those of worker.js.
RUN = """
const fs = require("fs"), folder = process.argv[1];
global.self = {location: {href: folder + "/engine.js"}};
global.importScripts = () => {};
const loadEngine = new Function(fs.readFileSync(folder + "/engine.js", "utf8") + "; return loadEngine;")();
loadEngine({wasmBinary: fs.readFileSync(folder + "/engine.wasm")}).then((engine) => {
  const ask = (name, types, values) => JSON.parse(engine.ccall("play_" + name, "string", types, values));
  const input = (name, values) => {
    const place = engine._malloc(8 * values.length);
    engine.HEAPF64.set(values, place / 8);
    ask("input", ["string", "number", "number"], [name, place, values.length]);
    engine._free(place);
  };
  const results = [];
  for (const {text, assembly} of JSON.parse(process.argv[2])) {
    const compiled = ask("compile", ["string", "number", "number"], [text, assembly, 1]);
    if (!compiled.ok) {
      results.push(compiled.rendered);
      continue;
    }
    for (const chosen of ["vector", "reference"]) {
      input("x", [1, 2]);
      input("y", [3, 5, 7]);
      ask("run", ["number", "number", "string"], [2, 3, chosen]);
      const place = engine._malloc(16);
      engine.ccall("play_result", "number", ["string", "number", "number"], ["f", place, 2]);
      results.push(Array.from(engine.HEAPF64.subarray(place / 8, place / 8 + 2)));
    }
  }
  console.log(JSON.stringify(results));
});
"""
KERNEL = "VARI x; VARJ y; VARF f;\nd = y - x;\nf += d*d;\n"
ASSEMBLY = """.kernel sums
ivar long x f64to72
jvar long y f64to72
fvar long f f64to72 fadd at $lr24v
.start
  upass f 0
.body
  vlen 1
  bget $lr0 y
  vlen 4
  fsub $lr8v $lr0 x
  fadd f f $lr8v
"""
BAD = "VARI x; VARJ y; VARF f;\nf += y - z;\n"


def main() -> int:
    missing = assets.missing() or ("" if shutil.which("node") else "node is missing")
    if missing:
        print(f"skipped: {missing}")
        return SKIPPED
    folder = assets.build_engine()
    texts = [
        {"text": KERNEL, "assembly": 0},
        {"text": ASSEMBLY, "assembly": 1},
        {"text": BAD, "assembly": 0},
    ]
    done = subprocess.run(
        ["node", "-e", RUN, "--", str(folder), json.dumps(texts)],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"the engine failed:\n{done.stdout}{done.stderr}")
    *found, error = json.loads(done.stdout)
    # (3-1)^2 + (5-1)^2 + (7-1)^2 and the same for 2; the sums of the differences.
    expected = [[56, 35]] * 2 + [[12, 9]] * 2
    if found != expected:
        sys.exit(f"results are {found}; expected {expected}")
    if "`z` is not declared" not in error:
        sys.exit(f"the message for an unknown name is {error}")
    size = (folder / "engine.wasm").stat().st_size
    print(f"engine.wasm: {size / 1e6:.1f} MB; kernel, assembly and errors are right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
