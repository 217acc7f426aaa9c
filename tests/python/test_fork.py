"""Forked processes: the default device opens again in a child."""

import multiprocessing
import os

import gdr
import numpy as np
import pytest

POSITIONS = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]


def _acceleration(_: int) -> float:
    return float(gdr.gravity(POSITIONS, 1.0).acc[0, 0])


def _solution(_: int) -> float:
    return float(gdr.linalg.solve(np.diag([2.0, 4.0]), np.ones(2))[0])


def _own_device(_: int) -> str:
    try:
        return str(_acceleration(0))
    except gdr.DeviceError as error:
        return str(error)


@pytest.mark.parametrize("work", [_acceleration, _solution])
def test_children_of_a_pool_open_the_default_device_again(work):
    before = work(0)  # opens the default device of the parent
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(work, range(4)).get(timeout=60) == [before] * 4
    assert work(0) == before


def test_a_child_of_os_fork_opens_the_default_device_again():
    before = _acceleration(0)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(_acceleration(0)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as text:
        assert text.read() == str(before)
    assert os.waitpid(child, 0)[1] == 0


def test_a_child_names_a_default_device_that_the_user_set():
    with gdr.open() as device:
        gdr.set_default_device(device)
        try:
            with multiprocessing.get_context("fork").Pool(1) as pool:
                (text,) = pool.map_async(_own_device, [0]).get(timeout=60)
        finally:
            gdr.set_default_device(None)
    assert "opened before this process was forked; open one in the child" in text


def test_processes_of_joblib_open_the_default_device_again():
    joblib = pytest.importorskip("joblib")
    before = _acceleration(0)
    parallel = joblib.Parallel(n_jobs=2, backend="multiprocessing")
    assert parallel(joblib.delayed(_acceleration)(k) for k in range(4)) == [before] * 4
