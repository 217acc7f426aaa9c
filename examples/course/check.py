#!/usr/bin/env python3
"""Checks the exercises of the course: which are solved, and what is wrong with the others.

    python3 examples/course/check.py              all exercises
    python3 examples/course/check.py 1 3          some of them
    python3 examples/course/check.py --folder examples/course/solutions

Needs the Python package gdr, and the command gdr for exercise 6. Exit status 0 if all are solved.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import gdr

HERE = pathlib.Path(__file__).parent


class Unsolved(Exception):
    """What is wrong, as a sentence."""


def run(kernel, targets, sources, **params):
    """The results of a kernel on the exact engine, with the rounding of the chip."""
    with gdr.open("exact") as device:
        return kernel(targets=targets, sources=sources, device=device, **params)


def assembled(path, clocks):
    """The kernel of a file in assembly, which takes at most so many clocks an interaction."""
    kernel = gdr.assemble(path.read_text(), path.stem)
    if kernel.clocks > clocks:
        raise Unsolved(f"it takes {kernel.clocks:g} clocks an interaction; {clocks:g} are enough")
    return kernel


def plane(count, seed, numbers="normal"):
    """Points of a plane: columns x and y."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 2)) if numbers == "normal" else rng.integers(0, 6, (count, 2))
    return points.astype(float)


def squares(targets, sources):
    """Squared distances, of targets by sources."""
    return ((targets[:, None] - sources) ** 2).sum(-1)


def compare(name, found, expected, error=1e-12):
    """Each result must be its exact value, within an error relative to the largest."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    if not np.isfinite(found).all():
        target = np.argwhere(~np.isfinite(found))[0][0]
        raise Unsolved(f"{name} of target {int(target)} is not finite")
    scale = np.abs(expected).max() or 1.0
    wrong = np.abs(found - expected) / scale
    if not (wrong <= error).all():
        k = np.unravel_index(wrong.argmax(), wrong.shape)
        raise Unsolved(
            f"{name} of target {int(k[0])} is {found[k]:.10g}, not {expected[k]:.10g}; "
            f"the error, {wrong.max():.1e} of the largest, may be {error:.0e}"
        )


def check_masks(path):
    kernel = assembled(path, 14)
    for seed, sources, numbers in ((1, 500, "normal"), (2, 40, "integers"), (3, 0, "normal")):
        i, j = plane(70, seed, numbers), plane(sources, seed + 10, numbers)
        q = np.random.default_rng(seed).normal(size=sources)
        found = run(
            kernel,
            {"xi": i[:, 0], "yi": i[:, 1]},
            {"xj": j[:, 0], "yj": j[:, 1], "qj": q},
            radius2=4.0,
        )
        compare("charge", found.charge, (q * (squares(i, j) < 4)).sum(1))


def check_precision(path):
    kernel = assembled(path, 7)
    rng = np.random.default_rng(4)
    x, xs = 1000 + rng.normal(size=100), 1000 + rng.normal(size=300)
    m = rng.integers(1, 1000, 300).astype(float)
    exact = (m * (xs.astype(np.longdouble) - x[:, None]) ** 2).sum(1)
    compare("moment", run(kernel, {"xi": x}, {"xj": xs, "mj": m}).moment, exact, 1e-13)


def check_pipeline(path):
    kernel = assembled(path, 7)
    i, j = plane(70, 5), plane(300, 6)
    q = np.random.default_rng(7).uniform(size=300)
    found = run(
        kernel, {"xi": i[:, 0], "yi": i[:, 1]}, {"xj": j[:, 0], "yj": j[:, 1], "qj": q}
    )
    compare("u", found.u, (q * squares(i, j)).sum(1), 1e-6)


def check_reduction(path):
    kernel = assembled(path, 16)
    for seed, sources, numbers in ((8, 500, "normal"), (9, 300, "integers"), (10, 0, "normal")):
        i, j = plane(70, seed, numbers), plane(sources, seed + 10, numbers)
        found = run(
            kernel,
            {"xi": i[:, 0], "yi": i[:, 1]},
            {"xj": j[:, 0], "yj": j[:, 1], "idj": np.arange(sources)},
        )
        d2 = squares(i, j)
        compare("d2", found.d2, d2.min(1) if sources else np.full(70, 1e300))
        compare("id", found.id, d2.argmin(1) if sources else np.full(70, -1.0), 0)


def check_law(path):
    kernel = gdr.compile(path.read_text(), path.stem)
    depth, a, r0, rc = 0.7, 1.3, 1.1, 2.5
    at_rc = np.array([[0, 0, 0], [rc, 0, 0], [0, 1, 0]])  # two of them at the distance rc
    for x in (np.random.default_rng(11).uniform(0, 3, (60, 3)), np.zeros((1, 3)), at_rc):
        found = run(kernel, {"x": x}, {"xs": x}, depth=depth, a=a, r0=r0, rc=rc)
        d = x[:, None] - x
        r = np.sqrt((d**2).sum(-1))
        e = np.exp(-a * (r - r0))
        near = (r < rc) & (r > 0)
        u = np.where(near, depth * ((1 - e) ** 2 - 1), 0)
        slope = np.where(near, 2 * depth * a * (1 - e) * e / np.where(near, r, 1), 0)
        compare("energy", found.energy, u.sum(1) / 2)
        compare("force", found.force, -(slope[:, :, None] * d).sum(1))


def predicted(particles, *more):
    """A prediction of `gdr predict gravity` for one board."""
    command = shutil.which("gdr")
    if not command:
        raise Unsolved("the command gdr is not in the path")
    done = subprocess.run(
        [command, "predict", "gravity", "--particles", str(particles), "--json", *more],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise Unsolved(f"gdr predict failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def check_roofline(path):
    answers = json.loads(path.read_text())
    if not isinstance(answers, dict):
        raise Unsolved("the file must have the form {\"name\": number, ...}")
    at = predicted(8192)
    details = at["details"]
    moved = details["bytes to the boards of a node"] + details["bytes from the boards of a node"]
    powers = [2**k for k in range(8, 20)]
    limited = [n for n in powers if predicted(n)["bottleneck"] == "chip"]
    expected = {
        "peak_gflops_of_a_chip": 512 * 2 * 0.4,
        "operations_per_byte": at["flops"] / moved,
        "operations_per_byte_at_the_ridge": at["peak_gflops"] / 2.5,
        "particles_from_which_chips_are_the_bottleneck": min(limited),
        "gflops_of_the_original_kernel": predicted(8192, "--clocks", "56")["gflops"],
    }
    for name, value in expected.items():
        if name not in answers:
            raise Unsolved(f"{name} is missing")
        if not isinstance(answers[name], (int, float)):
            raise Unsolved(f"{name} is not a number")
        if not abs(answers[name] - value) <= 0.01 * value:
            raise Unsolved(f"{name} is not {answers[name]}")


#: The file of each exercise, and its check.
EXERCISES = {
    1: ("1_masks.gds", check_masks),
    2: ("2_precision.gds", check_precision),
    3: ("3_pipeline.gds", check_pipeline),
    4: ("4_reduction.gds", check_reduction),
    5: ("5_law.gdk", check_law),
    6: ("6_roofline.json", check_roofline),
}


def verdict(number, folder):
    """What is wrong with an exercise; None if it is solved."""
    name, check = EXERCISES[number]
    try:
        check(folder / name)
    except (Unsolved, gdr.Error, OSError, TypeError, ValueError) as error:
        return str(error)
    return None


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Checks the exercises of the course.")
    parser.add_argument("numbers", nargs="*", type=int, metavar="N", help="exercises (default: all)")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE / "exercises")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.numbers) - set(EXERCISES))
    if unknown:
        parser.error(f"there is no exercise {unknown[0]}; they are 1 to {max(EXERCISES)}")
    solved = True
    for number in given.numbers or EXERCISES:
        name = EXERCISES[number][0]
        wrong = verdict(number, given.folder)
        print(f"{name:<18} {'solved' if wrong is None else 'not yet: ' + wrong}")
        solved &= wrong is None
    return 0 if solved else 1


if __name__ == "__main__":
    sys.exit(main())
