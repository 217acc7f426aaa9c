"""repr and notebook display: short, with the facts, and without side effects."""

import numpy as np
import pytest

import gdr
from gdr import linalg, nbody


@gdr.kernel
def spring(i, j, k):
    i.f += k * (j.x - i.x)


def test_devices_describe_themselves_and_their_work():
    with gdr.open("emulator", chips=1) as device:
        assert repr(device).startswith("<gdr.Device emulator: 1 board of 1 chip")
        gdr.gravity(np.eye(3), 1.0, device=device)
        table = device._repr_html_()
        assert "<td>interactions</td><td>9</td>" in table and "Gflops" in table
        assert "<td>interactions</td><td>9</td>" in device.statistics._repr_html_()
        job = device.job(spring)
    assert repr(device) == "<gdr.Device, closed>" and "closed" in device._repr_html_()
    assert repr(job) == "<gdr.Job of kernel spring: its device is closed>"
    assert "closed" in job._repr_html_()


def test_jobs_show_numbers_of_particles_and_variables(device):
    job = device.job(gdr.builtin("morse"))
    assert repr(job) == "<gdr.Job of kernel morse: 0 targets, 0 sources>"
    job.sources(xj=np.arange(4.0), yj=0, zj=0)
    job.targets(xi=[1.0], yi=0, zi=0)
    assert repr(job) == "<gdr.Job of kernel morse: 1 target, 4 sources>"
    assert "<td>depth</td><td>param</td><td>float64</td>" in job._repr_html_()
    sets = device.set_job(gdr.builtin("morse"))
    assert repr(sets) == "<gdr.SetJob of kernel morse>" and "<td>xi</td>" in sets._repr_html_()


def test_kernels_show_their_variables_under_the_names_of_the_function():
    table = spring._repr_html_()
    assert repr(spring).startswith("<gdr.Kernel spring: ")
    for cells in (
        "<td>k</td><td>param</td>",
        "<td>x</td><td>target</td>",
        "<td>f</td><td>result</td>",
    ):
        assert cells in table

    @gdr.kernel
    def pull(i, j):
        i.f += (j.x - i.x) * np.dot(j.x, j.x)

    assert "<td>x</td><td>source</td><td>float64[3]</td>" in pull._repr_html_()


def test_results_show_shapes_and_ranges():
    r = spring(targets={"x": [0.0, 1.0]}, sources={"x": [3.0]}, k=2.0)
    assert r.f is r["f"] and "f" in dir(r)
    assert repr(r) == "<gdr.ResultArrays f: float64 (2,)>"
    assert "<td>4 to 6</td>" in r._repr_html_()
    with pytest.raises(AttributeError, match="no result 'g'; the results are 'f'"):
        r.g


def test_factorisations_show_size_and_state():
    a = np.array([[0.0, 1.0], [2.0, 0.0]])
    f = linalg.lu(a)
    assert repr(f) == "<gdr.linalg.LU of 2 x 2>"
    assert "<td>exchanged rows</td><td>1</td>" in f._repr_html_()
    assert "singular: pivot 1 is zero" in repr(linalg.lu(np.ones((2, 2))))
    assert "none" in linalg.lu(np.ones((0, 0)))._repr_html_()
    c = linalg.cholesky(4 * np.eye(3), lower=False)
    assert repr(c) == "<gdr.linalg.Cholesky of 3 x 3, upper>" and "2 to 2" in c._repr_html_()
    batch = linalg.batch_lu(np.stack([np.eye(2), np.zeros((2, 2))]))
    assert repr(batch) == "<gdr.linalg.BatchLU of 2 matrices of 2 x 2, 1 singular>"
    assert repr(linalg.MatrixProduct(precision="chip")).startswith(
        "<gdr.linalg.MatrixProduct, chip precision, on <gdr.Device"
    )
    grid = linalg.DistributedMatrices(block=2)
    assert repr(grid) == "<gdr.linalg.DistributedMatrices: 1 x 1 ranks, block 2>"
    whole = grid.zeros((3, 5))
    assert repr(whole) == "<gdr.linalg.DistributedMatrix of 3 x 5, 3 x 5 on this rank>"


def test_systems_of_charges_and_stars_show_their_size(native):
    shell = gdr.chemistry.Shell([0.0, 0, 0], 0, [1.0], [1.0])
    charges = gdr.chemistry.Coulomb([shell], device=native)
    assert repr(charges).startswith("<gdr.chemistry.Coulomb of 1 function on <gdr.Device")
    stars = nbody.merger(10, mass_ratio=0.25, seed=1)
    assert (
        repr(stars) == "<gdr.nbody.Snapshot of 10 stars, t = 0, mass 1, 8 of type 1, 2 of type 2>"
    )
    assert "<td>centre of mass</td>" in stars._repr_html_()
    history = nbody.History()
    assert repr(history) == "<gdr.nbody.History, empty>"
    for state in nbody.leapfrog(stars, eps=0.1, dt=0.125, t_end=0.25, device=native):
        history.add(state)
    assert repr(state).startswith("<gdr.nbody.State of 10 stars, t = 0.25, mass 1,")
    assert f"{nbody.energies(state).total:.8g}" in state._repr_html_()
    assert repr(history).startswith("<gdr.nbody.History of 3 states, t = 0 to 0.25, energy error ")


def test_machines_show_the_next_instruction():
    machine = gdr.Machine(blocks=1, pes=2)
    assert repr(machine) == "<gdr.Machine of 1 block of 2 PEs: nothing loaded>"
    assert "nothing loaded" in machine._repr_html_()
    machine.load(gdr.builtin("morse"))
    machine.sources(xj=[0.0], yj=0, zj=0)
    machine.targets(xi=[1.0], yi=0, zi=0)
    while machine.position.section != "body":
        machine.step()
    machine.step()
    table = machine._repr_html_()
    assert "section body, iteration 0" in table
    assert f"<td>next</td><td>1</td><td>{machine.instructions('body')[1]}</td>" in table
    machine.run()
    assert "end of the program" in machine._repr_html_()


def test_texts_are_escaped():
    table = gdr._display.html_table("<script>", [["a & b"]], ["<i>"])
    assert "<script>" not in table and "a &amp; b" in table and "&lt;i&gt;" in table
