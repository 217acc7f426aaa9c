"""Hosts that refuse threads: the same results, or an error that names the limit."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import gdr

PROGRAM = """
import gdr, hashlib, sys, warnings
import numpy as np
rng = np.random.default_rng(1)

def show(name, *arrays):
    print(name, hashlib.md5(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest())

pos, mass = rng.normal(size=(3000, 3)), np.ones(3000)
a = rng.normal(size=(500, 500))
spd = a @ a.T + 500 * np.eye(500)
for engine in ("native", "exact"):
    with gdr.open(engine=engine, threads=4) as device:
        show(engine + " gravity", *gdr.gravity(pos, mass, 0.1, device=device))
        m = 500 if engine == "native" else 60
        show("product", gdr.linalg.matmul(a[:m, :m], a[:m, :m], device=device))
        show("LU", gdr.linalg.solve(a[:m, :m], a[:m, 0], device=device))
        show("Cholesky", gdr.linalg.cholesky(spd[:m, :m], device=device).solve(a[:m, 0]))
        kernel = gdr.compile("kernel sums; VARI x; VARJ y; VARF f; f += y - x;")
        print(kernel)
        job = device.job(kernel)
        job.targets(x=pos[:, 0])
        job.sources(y=mass)
        job.start()
        show("background", job.wait()["f"])
        if sys.argv[1] == "limited":
            assert "refuses further threads" in device.statistics.fallback_reason
for options in (
    {"device": "emulator", "health_check": 1}, {"device": "board:tcp:127.0.0.1:9", "insecure": 1},
):
    try:
        gdr.open(options.pop("device"), **options).close()
    except gdr.DeviceError as error:
        print("refused" if sys.argv[1] == "limited" else "", error, file=sys.stderr)
"""


def limit_threads():
    """The calling process may have no thread but its own."""
    if os.geteuid() == 0:  # the limit does not apply to root
        os.setgroups([])
        os.setresgid(54321, 54321, 54321)
        os.setresuid(54321, 54321, 54321)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


def run(kind, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(gdr.__file__).parents[1]),
        "OPENBLAS_NUM_THREADS": "1",  # NumPy's own threads
        "HOME": str(tmp_path),
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, kind],
        env=environment,
        cwd="/",
        preexec_fn=limit_threads if kind == "limited" else None,
        capture_output=True,
        text=True,
    )


def test_without_further_threads_results_are_the_same_and_errors_name_the_limit(tmp_path):
    try:
        probe = subprocess.run(
            [sys.executable, "-c", "import numpy"], preexec_fn=limit_threads, cwd="/"
        )
    except (OSError, subprocess.SubprocessError):
        pytest.skip("this Python cannot be run by another user")
    if probe.returncode != 0:
        pytest.skip("another user cannot import NumPy")
    free, limited = run("free", tmp_path), run("limited", tmp_path)
    assert free.returncode == 0, free.stderr
    assert limited.returncode == 0, limited.stderr
    assert limited.stdout == free.stdout
    assert limited.stderr.count("the system refuses further threads") == 2, limited.stderr
