#!/usr/bin/env python3
"""The playground of the site, in a headless Chromium: size, time to the first result, errors,
links, steps, particles, and the bits of random programs and compiled kernels against the command's.

usage: playground.py SOURCE_DIR GDR

Runs where Chromium and emscripten are installed. GDR_TEST_ITERATIONS: number of
random programs of every category (default: 1000 in all).
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from browser import Browser, Server, find_browser

SKIPPED = 77
SOURCE, GDR = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
LARGEST = 3 << 20  # bytes, compressed
FIRST_RESULT = 3000  # milliseconds after the address was given
PAGE = "document.getElementById('gdr-playground')"
# Constants are computed with 64 bits, on hosts with wider numbers, too.
CONSTANTS = """.kernel constants
const third = 1.0/3.0
const root = sqrt(2.0)*7.1 - third
const tenth = 0.1 + 0.2*third
const small = third*tenth/(root*root*root)
ivar long x f64to72
fvar long y f64to72 fadd at $lr0v
.body
  fadd y y third
  fadd y y root
  dmul y x tenth
  fadd y y small
"""
BAD = "VARI x; VARJ y; VARF f;\n\nf += y - z;\n"


def missing() -> str:
    return "no chromium" if find_browser() is None else str(assets().missing())


def assets() -> types.ModuleType:
    """The module of the playground's files."""
    sys.path.insert(0, str(SOURCE / "docs/site/playground"))
    return importlib.import_module("assets")


def check(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def compressed_size(folder: pathlib.Path) -> int:
    return sum(len(gzip.compress(f.read_bytes(), 9)) for f in folder.iterdir())


def run_gdr(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GDR, *arguments], capture_output=True, text=True, check=False)


def set_source(page: Browser, text: str) -> None:
    """Types a text, and waits until it is compiled."""
    before = page.evaluate(f"{PAGE}.dataset.compiled")
    page.evaluate(
        f"(() => {{ const t = document.getElementById('pg-text'); t.value = {json.dumps(text)};"
        " t.dispatchEvent(new Event('input')); })()"
    )
    page.wait_for(f"{PAGE}.dataset.compiled !== {json.dumps(before)}")


def show(page: Browser, tab: str) -> None:
    page.evaluate(f"document.getElementById('pg-tab-{tab}').click()")


def call(page: Browser, name: str, timeout: float = 300, **values: object) -> object:
    return page.evaluate(f"gdrPlayground.call('{name}', {json.dumps(values)})", timeout)


def check_first_result(page: Browser, address: str) -> None:
    page.open(address)
    page.wait_for(f"{PAGE}?.dataset.firstResult")
    first = int(page.evaluate(f"{PAGE}.dataset.firstResult"))
    page.wait_for(f"{PAGE}.dataset.compiled")
    loop = page.evaluate("performance.now()")
    print(f"first result after {first} ms, shortest loop after {loop:.0f} ms")
    check(first < FIRST_RESULT, f"the first result took {first} ms")
    check(page.evaluate(f"{PAGE}.dataset.ok") == "true", "the first example has errors")
    rows = page.evaluate("document.querySelectorAll('#pg-panel-microcode tbody tr').length")
    check(rows > 40, f"only {rows} instructions are shown")


def check_errors(page: Browser, folder: pathlib.Path) -> None:
    set_source(page, BAD)
    file = folder / "playground.gdk"
    file.write_text(BAD)
    shown = page.evaluate("document.getElementById('pg-messages').textContent")
    expected = run_gdr("compile", str(file), "-o", str(folder / "bad.gdo")).stderr
    rendered = shown.replace("playground.gdk", str(file)).strip()
    check(rendered != "" and rendered in expected, f"shown: {shown}\nby the command: {expected}")
    marked = page.evaluate("document.querySelector('.pg-numbers .pg-wrong').textContent")
    check(marked.endswith("3"), f"the marked line is {marked}")
    check(page.evaluate("document.querySelector('.pg-marks mark').textContent") == "z", "the mark")
    check(page.evaluate(f"{PAGE}.dataset.ok") == "false", "a bad kernel is accepted")


def check_link(page: Browser, address: str, kernel: str) -> None:
    set_source(page, kernel)
    link = page.evaluate(
        "gdrPlayground.fragmentOf({text: document.getElementById('pg-text').value, assembly: false,"
        " params: {}})"
    )
    check(link.startswith("#z.") and len(link) < len(kernel), "the link is not compressed")
    page.open("about:blank")
    page.open(address + link)
    page.wait_for(f"{PAGE}?.dataset.compiled")
    text = page.evaluate("document.getElementById('pg-text').value")
    check(text == kernel, "the link opens another text")
    page.evaluate(
        "[...document.querySelectorAll('button')].find(b => b.textContent === 'Copy link').click()"
    )
    page.wait_for(f"location.hash === {json.dumps(link)}")


def check_examples(page: Browser, address: str) -> None:
    """Addresses of examples, as the links of the exercises have them, open these."""
    page.open("about:blank")
    page.open(address + "#example=exercise_3")
    page.wait_for(f"{PAGE}?.dataset.compiled")
    for name in ("exercise_3", "exercise_5", "coulomb"):
        before = page.evaluate(f"{PAGE}.dataset.compiled")
        path = next(path for known, _, path in assets().EXAMPLES if known == name)
        if page.evaluate("location.hash") != f"#example={name}":
            page.evaluate(f"location.hash = 'example={name}'")
            page.wait_for(f"{PAGE}.dataset.compiled !== {json.dumps(before)}")
        text = page.evaluate("document.getElementById('pg-text').value")
        check(text == (SOURCE / path).read_text(encoding="utf-8"), f"#example={name} opens another text")
        check(page.evaluate("document.getElementById('pg-example').value") == name, "the list")


def check_steps(page: Browser) -> None:
    show(page, "step")
    executed = f"Number({PAGE}.dataset.executed)"
    page.wait_for(f"{executed} === 0")
    def state() -> object:
        return call(page, "stepState", block=1, pe=2)

    def button(text: str, then: str) -> None:
        page.evaluate(
            "[...document.querySelectorAll('#pg-panel-step button')]"
            f".find(b => b.textContent.includes('{text}')).click()"
        )
        page.wait_for(then)

    button("Next source", f"{executed} > 10")
    shown = "document.querySelectorAll('.pg-memories tbody tr').length"
    check(page.evaluate(shown) > 20, "few words are shown")
    here, count = state(), page.evaluate(executed)
    button("Step", f"{executed} === {count + 1}")
    button("Step", f"{executed} === {count + 2}")
    check(state() != here, "two instructions change nothing")
    button("Back", f"{executed} === {count + 1}")
    button("Back", f"{executed} === {count}")
    check(state() == here, "steps back lead to another state")
    page.evaluate("document.querySelector('#pg-panel-step .pg-scroll').focus()")
    page.key("ArrowRight")
    page.wait_for(f"{executed} === {count + 1}")
    button("End", "document.querySelector('.pg-place').textContent.includes('End of the program')")


def check_particles(page: Browser) -> None:
    show(page, "run")
    page.wait_for("document.querySelectorAll('.pg-compared tbody tr').length === 4")
    for row in call(page, "compare", targets=100, sources=100):
        check(0 < row["difference"] < 1e-5 * row["largest"], f"the forces are wrong: {row}")
    page.evaluate("document.querySelector('#pg-panel-run .pg-primary').click()")
    page.wait_for(f"Number(({PAGE}.dataset.ran ?? '').split(' ')[1]) > 60")
    note = page.evaluate("document.querySelector('#pg-panel-run [role=status]').textContent")
    error = page.evaluate("gdrPlayground.energyError()")
    check(abs(error) < 1e-3, f"the energy is not conserved: {note}")
    painted = page.evaluate(
        "(() => { const c = document.querySelector('.pg-canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0;"
        " for (let k = 3; k < d.length; k += 4) if (d[k] > 0) ++n; return n; })()"
    )
    check(painted > 1000, "nothing is drawn")
    page.evaluate("document.querySelector('#pg-panel-run .pg-primary').click()")


def check_bits(page: Browser) -> None:
    """Final states of random programs, and assembly of kernels, as from the command."""
    iterations = os.environ.get("GDR_TEST_ITERATIONS")
    counts = {"operations": 300, "programs": 400, "loops": 300}
    equal = 0
    for category, usual in counts.items():
        count = int(iterations) if iterations else usual
        command = ["selftest", "--states", "-", "--only", category, "--cases", str(count)]
        expected = [line.split()[2] for line in run_gdr(*command).stdout.splitlines()]
        check(len(expected) == count, f"the command wrote {len(expected)} states")
        got = call(page, "randomStates", category=category, first=1, count=count, engine="vector")
        wrong = [n + 1 for n in range(count) if got[n] != expected[n]]
        check(not wrong, f"{category}: other bits with seeds {wrong[:10]}")
        equal += count
    print(f"{equal} of {equal} random programs leave the command's bits")
    for name in ("coulomb", "gauss_sum", "gravity_jerk", "gravity_potential", "lennard_jones"):
        path = SOURCE / f"kernels/particle/{name}.gdk"
        expected = run_gdr("compile", str(path), "--no-cache", "-S", "-").stdout
        text = path.read_text(encoding="utf-8")
        got = call(page, "compile", text=text, assembly=False, pipeline=True)["assembly"]
        check(got == expected, f"{path.name} compiles to another program")


def check_constants(page: Browser, folder: pathlib.Path) -> None:
    file = folder / "playground.gds"
    file.write_text(CONSTANTS)
    run = run_gdr("asm", str(file), "-o", str(folder / "constants.gdo"), "-l", "-")
    got = call(page, "compile", text=CONSTANTS, assembly=True, pipeline=True)["report"]
    expected = run.stdout.replace(str(file), "playground.gds")
    check(run.returncode == 0 and got.strip() in expected, f"{got}\nby the command: {expected}")


def main() -> int:
    lacks = missing()
    if lacks:
        print(f"skipped: {lacks}")
        return SKIPPED
    kernel = (SOURCE / "kernels/particle/gravity_softened.gdk").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        folder = root / "some/where"  # a site may be at any path
        files = SOURCE / "docs/site/playground/assets.py"
        subprocess.run([sys.executable, files, folder], check=True)
        size = compressed_size(folder)
        print(f"{size / 1e6:.2f} MB compressed")
        check(size <= LARGEST, f"{size} bytes are more than {LARGEST}")
        address = Server(root).address + "/some/where/"
        with Browser() as page:
            check_first_result(page, address)
            check_errors(page, root)
            check_link(page, address, kernel)
            check_steps(page)
            check_particles(page)
            check_examples(page, address)
            check_bits(page)
            check_constants(page, root)
            check(not page.console, "\n".join(page.console))
    return 0


if __name__ == "__main__":
    sys.exit(main())
