#!/usr/bin/env python3
"""Draws the figures of the documentation from numbers of the program gdr, and from costs.json, which
bench/particle_costs.py has measured, peers.txt, what bench/peers.py has printed, and responses.csv, which
`gdr predict network --response --csv responses.csv` has written.

usage: figures.py [--check] GDR FOLDER

Writes pass.svg, reduction.svg, roofline.svg, costs.svg, peers.svg and response.svg to FOLDER. With --check it compares
the files that are there with what it would write: status 1 if one differs.
"""

import csv
import html
import json
import math
import re
import subprocess
import sys
from pathlib import Path

COSTS = Path(__file__).resolve().parent / "costs.json"
PEERS = COSTS.with_name("peers.txt")
RESPONSES = COSTS.with_name("responses.csv")
KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "particle"
FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
BLUE, RED, GOLD, GREEN = "#2f6fb3", "#b4534b", "#c8922a", "#3f8f5f"
GREY, DARK = "#5c6370", "#1f2530"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
FILLS = {BLUE: "#dbe8f6", RED: "#f6dedb", GOLD: "#fdf1d8", GREEN: "#dff0e5", GREY: "#eef0f3"}


class Drawing:
    """An SVG picture: shapes in the order in which they are added."""

    def __init__(self, width, height, title):
        self.size, self.title, self.parts = (width, height), title, []
        self.text(24, 36, title, size=19, bold=True)

    def add(self, shape):
        self.parts.append(shape)

    def text(self, x, y, words, size=13, colour=DARK, anchor="start", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.add(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}>{html.escape(words)}</text>'
        )

    def box(self, x, y, width, height, colour, radius=3):
        self.add(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}" '
            f'fill="{FILLS[colour]}" stroke="{colour}"/>'
        )

    def line(self, points, colour, width=1.6, dashed=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.add(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>'
        )

    def dot(self, x, y, colour, radius=4.5):
        self.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>')

    def svg(self):
        width, height = self.size
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="{FONT}">\n'
            f"<title>{html.escape(self.title)}</title>\n"
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def kernel_numbers(gdr, name):
    """Targets of a PE, sources of a group, clocks of the loop for a group, words of a source."""
    source = (KERNELS / f"{name}.gds").read_text(encoding="utf-8")
    found = {key: re.search(rf"^\.{key} (\d+)", source, re.M) for key in ("elements", "group")}
    elements = int(found["elements"].group(1)) if found["elements"] else 4
    sources = int(found["group"].group(1)) if found["group"] else 1
    clocks = json.loads(output(gdr, "predict", name, "--particles", "2048", "--json"))
    an_interaction = clocks["details"]["clocks per interaction"]
    # "jvar long xj yj zj f64to72": the names are before the conversion.
    lines = [line.split()[2:] for line in re.findall(r"^jvar .*", source, re.M)]
    words = sum(next(k for k, w in enumerate(line) if re.search("to|int", w)) for line in lines)
    return elements, sources, round(an_interaction * elements * sources), words


def draw_pass(gdr):
    """A run of one chip with the kernel gravity, to scale: fills of the broadcast memory's halves,
    the loop, and the results."""
    elements, group, clocks, words = kernel_numbers(gdr, "gravity")
    half_words = 512  # half of a broadcast memory of 1024 long words
    items = half_words // words // group * group
    fill, compute = items * words, items // group * clocks
    halves = 4
    d = Drawing(1000, 372, "A run of the kernel gravity on one chip")
    subject = f"{halves * items} sources; each PE has {elements} targets."
    d.text(24, 60, f"{subject} Time in clocks, to scale.", colour=GREY)
    left, right = 178, 966
    total = fill + halves * compute
    scale = (right - left) / total

    def at(clock):
        return left + clock * scale

    rows = {"input port": 84, "half A": 136, "half B": 188, "PEs": 240}
    for name, y in rows.items():
        label = name if name in ("input port", "PEs") else f"memory, {name}"
        d.text(left - 14, y + 24, label, anchor="end")
        d.line([(left, y + 36), (right, y + 36)], "#d5d9e0", 1)
    for k in range(halves):
        begin, run = (0 if k == 0 else fill + (k - 1) * compute), fill + k * compute
        d.box(at(begin), rows["input port"], fill * scale, 36, BLUE)
        y = rows["half A" if k % 2 == 0 else "half B"]
        d.box(at(begin), y, fill * scale, 36, BLUE)
        d.box(at(run), y, compute * scale, 36, GOLD)
        middle, last = at(run + compute / 2), (k + 1) * items - 1
        d.text(middle, y + 23, f"sources {k * items} to {last}", 12, anchor="middle")
        d.box(at(run), rows["PEs"], compute * scale, 36, GREEN)
        iterations = f"{items // group} iterations of {clocks} clocks"
        d.text(middle, rows["PEs"] + 23, iterations, 12, anchor="middle")
    for clock in range(0, total + 1, 5000):
        d.line([(at(clock), 284), (at(clock), 290)], GREY, 1)
        d.text(at(clock), 306, f"{clock}", 12, GREY, "middle")
    notes = (
        "While the PEs read one half of the broadcast memory, the port fills the other: "
        f"{fill} clocks for {items} sources of {words} words,",
        f"hidden behind {compute} clocks of computing. Only the first fill delays the PEs. "
        "All blocks get the same sources.",
    )
    for k, note in enumerate(notes):
        d.text(24, 336 + 20 * k, note, 13, GREY)
    return d.svg()


def draw_reduction():
    """The reduction network with eight of the sixteen blocks: a sum of one result."""
    parts = [3, 1, 4, 1, 5, 9, 2, 6]
    d = Drawing(1000, 372, "The reduction network adds the partial sums of the blocks")
    subject = "Eight of the 16 blocks: each has summed over its share of the sources"
    d.text(24, 60, f"{subject}, for the same target.", colour=GREY)
    xs = [150 + 100 * k for k in range(len(parts))]
    y, values = 110, list(parts)
    for k, x in enumerate(xs):
        d.box(x - 38, y - 26, 76, 44, GOLD)
        d.text(x, y - 8, f"block {k}", 12, GREY, "middle")
        d.text(x, y + 11, str(values[k]), 15, DARK, "middle", True)
    d.text(24, 118, "PEs", 13, GREY)
    bottom = y + 18
    for level in range(3):
        d.text(24, bottom + 50, f"level {level + 1}", 13, GREY)
        nodes = [(xs[k] + xs[k + 1]) / 2 for k in range(0, len(xs), 2)]
        sums = [values[k] + values[k + 1] for k in range(0, len(values), 2)]
        for n, x in enumerate(nodes):
            for old in (xs[2 * n], xs[2 * n + 1]):
                d.line([(old, bottom), (old, bottom + 20), (x, bottom + 20), (x, bottom + 30)], RED)
            d.box(x - 24, bottom + 30, 48, 30, RED, 15)
            d.text(x, bottom + 50, str(sums[n]), 14, DARK, "middle", True)
        xs, values, bottom = nodes, sums, bottom + 60
    d.line([(xs[0], bottom), (xs[0], bottom + 18)], RED)
    port = "output port: one word for the host instead of eight"
    d.text(xs[0], bottom + 34, port, 13, DARK, "middle")
    note = (
        "The order is fixed: (0, 1), (2, 3), ..., so that the bits of a sum are the same in every "
        "run. Other reductions: max, min, and, or, xor."
    )
    d.text(24, 364, note, 13, GREY)
    return d.svg()


def draw_roofline(gdr):
    """Predicted rates of one board of four chips over the operations per byte on its link."""
    colours = {"gravity": BLUE, "gravity_hermite": RED}
    sizes = [256, 1024, 4096, 16384, 65536]
    link = 2.5  # GB/s to the board (docs/internals/board.md)
    points, peak = {}, 0.0
    for name in colours:
        points[name] = []
        for size in sizes:
            job = ["predict", name, "--particles", str(size), "--machine", "board4", "--json"]
            result = json.loads(output(gdr, *job))
            details = result["details"]
            moved = sum(details[f"bytes {way} the boards of a node"] for way in ("to", "from"))
            points[name].append((result["flops"] / moved, result["gflops"], str(size)))
            peak = max(peak, result["peak_gflops"])
    d = Drawing(1000, 520, "Roofline of one board with four chips")
    subject = "Predicted by 'gdr predict --machine board4'"
    d.text(24, 60, f"{subject}; labels are numbers of particles.", colour=GREY)
    left, right, top, low = 92, 780, 84, 462
    x_range, y_range = (0.0, 5.0), (0.0, 3.6)  # decades

    def place(intensity, rate):
        u = (math.log10(intensity) - x_range[0]) / (x_range[1] - x_range[0])
        v = (math.log10(rate) - y_range[0]) / (y_range[1] - y_range[0])
        return left + u * (right - left), low - v * (low - top)

    for decade in range(6):
        x, _ = place(10**decade, 1)
        d.line([(x, top), (x, low)], "#e3e6eb", 1)
        d.text(x, low + 20, f"{10**decade:,}".replace(",", " "), 12, GREY, "middle")
    for decade in range(4):
        _, y = place(1, 10**decade)
        d.line([(left, y), (right, y)], "#e3e6eb", 1)
        d.text(left - 10, y + 4, f"{10**decade:,}".replace(",", " "), 12, GREY, "end")
    ridge = peak / link
    d.line([place(1, link), place(ridge, peak), place(10 ** x_range[1], peak)], DARK, 2.2)
    x, y = place(10 ** x_range[1], peak)
    d.text(x - 6, y - 8, f"{peak:.0f} Gflops: 2048 PEs at 400 MHz", 12, DARK, "end")
    x, y = place(4, link * 4)
    d.text(x - 8, y - 10, f"{link:g} GB/s", 12, DARK, "end")
    d.text((left + right) / 2, low + 44, "operations per byte on the link to the board", 13, DARK, "middle")
    d.text(left - 10, top - 6, "Gflops", 13, DARK, "end")
    for k, (name, colour) in enumerate(colours.items()):
        places = [place(i, rate) for i, rate, _ in points[name]]
        d.line(places, colour, 1.4, True)
        for (x, y), (_, rate, label) in zip(places, points[name]):
            d.dot(x, y, colour)
            if k == 0 and rate < peak / 2:
                d.text(x - 7, y - 7, label, 12, colour, "end")
            else:
                d.text(x + 7, y + 16, label, 12, colour)
        d.dot(right + 24, top + 20 + 26 * k, colour)
        d.text(right + 36, top + 25 + 26 * k, name, 13, DARK)
    return d.svg()


class Decades:
    """Logarithmic axes over a part of a drawing, from one power of ten to another."""

    def __init__(self, drawing, left, right, top, low, x_range, y_range):
        self.drawing, self.x_range, self.y_range = drawing, x_range, y_range
        self.left, self.right, self.top, self.low = left, right, top, low

    def place(self, x, y):
        def part(value, ends):
            return (math.log10(value) - ends[0]) / (ends[1] - ends[0])

        across, up = part(x, self.x_range), part(y, self.y_range)
        return (
            self.left + across * (self.right - self.left),
            self.low - up * (self.low - self.top),
        )

    def grid(self, x_name, y_name):
        d = self.drawing
        for decade in range(math.ceil(self.x_range[0]), math.floor(self.x_range[1]) + 1):
            x, _ = self.place(10**decade, 10 ** self.y_range[0])
            d.line([(x, self.top), (x, self.low)], "#e3e6eb", 1)
            power = "10" + "".join(SUPERSCRIPTS[int(digit)] for digit in str(decade))
            d.text(x, self.low + 20, power, 12, GREY, "middle")
        for decade in range(math.ceil(self.y_range[0]), math.floor(self.y_range[1]) + 1):
            _, y = self.place(10 ** self.x_range[0], 10.0**decade)
            d.line([(self.left, y), (self.right, y)], "#e3e6eb", 1)
            d.text(self.left - 10, y + 4, f"{10.0**decade:g}", 12, GREY, "end")
        d.text((self.left + self.right) / 2, self.low + 44, x_name, 13, DARK, "middle")
        d.text(self.left - 10, self.top - 10, y_name, 13, DARK, "middle")


def draw_costs():
    """Measured times of one calculation of all particles over their number."""
    measured = json.loads(COSTS.read_text(encoding="utf-8"))
    colours = {"direct sums": BLUE, "tree, 1e-5": GOLD, "tree, 1e-3": RED, "cut-off": GREEN}
    d = Drawing(1000, 520, "Processor time of forces over the number of particles")
    subject = f"One thread of {measured['processor']} ({measured['isa'].upper()})"
    d.text(24, 60, f"{subject}, measured by bench/particle_costs.py.", colour=GREY)
    axes = Decades(d, 92, 780, 96, 462, (2.9, 6.05), (-4, 3))
    axes.grid("particles", "seconds")
    for what, colour in colours.items():
        rows = [row for row in measured["costs"] if row["what"] == what]
        places = [axes.place(row["particles"], row["seconds"]) for row in rows]
        d.line(places, colour)
        for place in places:
            d.dot(*place, colour)
        x, y = places[-1]
        d.text(x + 14, y + 5, what, 13, colour)
    return d.svg()


def peer_rates():
    """Titles of the laws of bench/peers.py, with the rate and the error of each program."""
    laws = {}
    for line in PEERS.read_text(encoding="utf-8").splitlines():
        if title := re.match(r"(\w+), \d+ particles: million pairs", line):
            rates = laws.setdefault(title[1], {})
        elif row := re.fullmatch(r"  (\w+) +(\d+) +[\d.]+ +(\S+)", line):
            rates[row[1]] = (float(row[2]), row[3])
    return laws


def draw_peers():
    """Rates of sums over all pairs by several programs."""
    titles = {
        "gravity": "gravity, with potential",
        "yukawa": "Yukawa potential, exp(-r)/r",
        "ewald": "Ewald, erfc(r)/r",
    }
    d = Drawing(1000, 330, "Sums over all pairs in double precision: million pairs a second, one core")
    d.text(24, 60, PEERS.read_text(encoding="utf-8").partition("\n")[0], colour=GREY)
    for column, (law, rates) in enumerate(peer_rates().items()):
        left, width = 30 + 325 * column, 130
        d.text(left, 96, titles[law], 15, bold=True)
        most = max(rate for rate, _ in rates.values())
        for k, (name, (rate, error)) in enumerate(rates.items()):
            y = 112 + 38 * k
            d.text(left, y + 18, "GDR" if name == "gdr" else name, 13)
            d.box(left + 60, y, max(2, width * rate / most), 26, BLUE if name == "gdr" else GREY)
            d.text(left + 66 + max(2, width * rate / most), y + 18, f"{rate:.0f}", 13, bold=True)
            d.text(left + 290, y + 18, error, 11, GREY, "end")
    d.text(24, 314, "On the right: errors, root mean square of relative ones. bench/peers.py", 12, GREY)
    return d.svg()


def draw_response():
    """Throughput of congestion controls over the loss rate, simulated and by closed forms."""
    with RESPONSES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    colours = {
        "reno": GREY, "highspeed": BLUE, "scalable": RED, "htcp": GREEN, "bic": GOLD,
        "westwood": "#7f52a3", "cubic": DARK, "fast": "#2b9aa0", "griddt": "#a86f5b",
    }  # fmt: skip
    d = Drawing(1000, 500, "Response functions: throughput in Mbit/s over the loss rate")
    d.text(24, 60, "Dots: simulated. Lines: closed forms. Windows up to 10 Gbit/s.", colour=GREY)
    for column, rtt in enumerate(dict.fromkeys(row["rtt_seconds"] for row in rows)):
        left = 60 + 290 * column
        axes = Decades(d, left, left + 235, 110, 420, (3, 6), (0, 4.2))
        axes.grid("segments for each loss", f"RTT {1e3 * float(rtt):g} ms")
        for name, colour in colours.items():
            own = [r for r in rows if r["congestion"] == name and r["rtt_seconds"] == rtt]
            key = "closed_form_bytes_per_second"
            known = [(1 / float(r["loss"]), 8e-6 * float(r[key])) for r in own if r[key]]
            line = [axes.place(x, min(y, 1e4)) for x, y in known]
            if line:
                d.line(line, colour, 1.2)
            for r in own:
                rate = 8e-6 * float(r["simulated_bytes_per_second"])
                d.dot(*axes.place(1 / float(r["loss"]), max(rate, 1)), colour, 3)
    for k, (name, colour) in enumerate(colours.items()):
        d.dot(905, 130 + 24 * k, colour, 4)
        d.text(918, 134 + 24 * k, name, 13, colour)
    return d.svg()


def main():
    words = [w for w in sys.argv[1:] if w != "--check"]
    if len(words) != 2:
        sys.exit(__doc__)
    gdr, folder = words[0], Path(words[1])
    figures = {
        "pass.svg": draw_pass(gdr),
        "reduction.svg": draw_reduction(),
        "roofline.svg": draw_roofline(gdr),
        "costs.svg": draw_costs(),
        "peers.svg": draw_peers(),
        "response.svg": draw_response(),
    }
    stale = []
    for name, text in figures.items():
        path = folder / name
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path))
    if stale:
        sys.exit(f"{', '.join(stale)}: not what docs/generator/figures.py draws; run make docs")


if __name__ == "__main__":
    main()
