"""Devices on many ranks: bit-identical results, collective errors, rank failures."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, mpi_environment
from rank_programs import python, script

import gdr


def test_two_ranks_are_bit_identical_to_one_process(tmp_path):
    program = script(
        tmp_path,
        """
        import sys
        import numpy as np, gdr
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        assert comm.size == 2
        random = np.random.default_rng(1)
        pos, vel, mass = random.normal(size=(301, 3)), random.normal(size=(301, 3)), random.uniform(1, 2, 301)
        mine = slice(0, 200) if comm.rank == 0 else slice(200, 301)
        with gdr.open("mpi", comm=comm, threads=1) as device:
            assert (device.rank, device.ranks) == (comm.rank, 2) and "2 ranks" in repr(device)
            g = gdr.gravity(pos[mine], mass[mine], 0.1, device=device)
            j = gdr.gravity_jerk(pos[mine], mass[mine], vel[mine], 0.1, device=device)
            t = gdr.gravity(pos[mine], mass[mine], 0.1, pos[:5], device=device)
            reports = device.rank_reports()
        assert [r.rank for r in reports] == [0, 1] and all(r.pairs > 0 for r in reports)
        for r in reports:
            assert r.boards == 1 and r.threads == 1 and r.host and r.seconds > 0
            assert 0 <= r.sources_waiting <= r.sources_seconds and r.waiting_seconds >= 0
            assert 0 < r.sources_bytes <= r.memory_bytes and r.bytes_received > 0
        assert np.array_equal(*comm.allgather(t.acc))
        arrays = {"acc": g.acc, "pot": g.pot, "jerk": j.jerk, "jacc": j.acc}
        whole = {name: np.concatenate(comm.allgather(a)) for name, a in arrays.items()}
        if comm.rank == 0:
            np.savez(sys.argv[1], pos=pos, vel=vel, mass=mass, tacc=t.acc, **whole)
        """,
    )
    python(program, tmp_path / "all.npz", ranks=2)
    got = np.load(tmp_path / "all.npz")
    pos, vel, mass = got["pos"], got["vel"], got["mass"]
    acc, pot = gdr.gravity(pos, mass, 0.1)
    jerk = gdr.gravity_jerk(pos, mass, vel, 0.1)
    assert np.array_equal(got["acc"], acc) and np.array_equal(got["pot"], pot)
    assert np.array_equal(got["jerk"], jerk.jerk) and np.array_equal(got["jacc"], jerk.acc)
    assert np.array_equal(got["tacc"], gdr.gravity(pos, mass, 0.1, pos[:5]).acc)


def test_an_invalid_argument_on_one_rank_raises_on_all_ranks(tmp_path):
    """No rank waits for the rank whose arguments are invalid, and the device stays usable."""
    program = script(
        tmp_path,
        """
        import numpy as np, gdr
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        good = np.eye(3)
        bad = [good.astype(complex), good[:, :2], np.where(good > 0, np.nan, good)]
        with gdr.open("mpi", comm=comm, threads=1) as device:
            for wrong in bad:
                for call in (gdr.gravity, gdr.gravity_potential):
                    try:
                        call(good if comm.rank == 0 else wrong, 1.0, 0.1, device=device)
                    except (TypeError, ValueError) as error:
                        told = comm.allgather((type(error).__name__, str(error)))
                    else:
                        raise SystemExit("no error was raised")
                    assert "pos" in told[1][1] or "rank 1" in told[1][1], told
                    assert told[0][1].startswith("rank 1: "), told
            job = device.job(gdr.builtin("lennard_jones"))
            try:
                job.set(rc2=1.0 if comm.rank else "far")
            except (TypeError, gdr.UsageError) as error:
                assert "rc2" in str(error), error
            else:
                raise SystemExit("no error was raised")
            assert np.isfinite(gdr.gravity(good, 1.0, 0.1, device=device).acc).all()
        """,
    )
    python(program, ranks=2)


def test_interrupting_one_rank_stops_the_call_on_all_ranks(tmp_path):
    program = script(
        tmp_path,
        """
        import os, signal, threading, time
        import numpy as np, gdr
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        pos = np.random.default_rng(comm.rank).normal(size=(40000, 3))
        with gdr.open("mpi", comm=comm, threads=1, engine="native") as device:
            small = gdr.gravity(pos[:10], 1.0, 0.1, device=device)
            # During the sums, and while rank 1 waits for rank 0 in the checks of arguments.
            for late in 0, 0.5:
                comm.Barrier()
                if comm.rank == 1:
                    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                else:
                    time.sleep(late)
                try:
                    gdr.gravity(pos, 1.0, 0.1, device=device)
                except KeyboardInterrupt:
                    told = "interrupted"
                except gdr.DeviceError as error:
                    told = str(error)
                else:
                    told = "done"
                told = comm.allgather(told)
                assert told[1] == "interrupted" and told[0].startswith("rank 1: "), told
            again = gdr.gravity(pos[:10], 1.0, 0.1, device=device)
            assert np.array_equal(again.acc, small.acc)
        """,
    )
    python(program, ranks=2)


def test_leapfrog_with_other_parameters_on_a_rank_is_an_error_on_all(tmp_path):
    program = script(
        tmp_path,
        """
        import gdr
        from gdr import nbody
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        stars = nbody.plummer(20, seed=comm.rank)
        same = {"eps": 0.1, "dt": 0.125, "t_end": 0.25}
        with gdr.open("mpi", comm=comm, threads=1) as device:
            for name in same:
                try:
                    nbody.leapfrog(stars, **same | {name: 0.25 + comm.rank}, device=device)
                except TypeError as error:
                    assert "parameters and times of leapfrog: differ between ranks" in str(error)
                else:
                    raise SystemExit(f"no error for {name}")
            states = list(nbody.leapfrog(stars, **same, device=device))
        assert len(states) == 3 and states[-1].time == 0.25
        """,
    )
    python(program, ranks=2)


def test_hermite_has_the_bits_of_one_process(tmp_path):
    program = script(
        tmp_path,
        """
        import sys
        import numpy as np, gdr
        from gdr import nbody
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        stars = nbody.plummer(20, seed=3)
        mine = slice(comm.rank, None, 2)
        part = nbody.Snapshot(stars.pos[mine], stars.vel[mine], stars.mass[mine])
        with gdr.open("mpi", comm=comm, threads=1) as device:
            states = list(nbody.hermite(part, eps=0.02, t_end=0.25, device=device))
            rest = list(nbody.hermite(states[2], t_end=0.25, device=device))
            assert np.array_equal(rest[-1].pos, states[-1].pos) and rest[0].step == 2
            # The ranks agree to begin a new run if one of them cannot continue.
            start = states[2].snapshot()
            if comm.rank == 1:
                start.run = None
            new = list(nbody.hermite(start, eps=0.02, t_end=0.25, device=device))
            assert new[0].step == 0 and new[-1].time == 0.25
            # A new run of all ranks if the stars of one have been changed, and errors on all.
            start = states[2].snapshot()
            if comm.rank == 1:
                start.vel[0] += 0.1
            new = list(nbody.hermite(start, t_end=0.25, device=device))
            assert new[0].step == 0 and new[0].run.start_time == 0.125 and new[-1].time == 0.25
            for wrong in ({"t_end": 0.1}, {"t_end": 0.25, "dt_min": 0.2}, {"t_end": 0.25, "eta": -1}):
                try:
                    nbody.hermite(start, device=device, **wrong)
                except ValueError as error:
                    assert list(wrong)[-1] in str(error), error
                else:
                    raise SystemExit("no error")
            for damaged in (1, 0):
                start = states[2].snapshot()
                if comm.rank == damaged:
                    start.pos[2, 1] = np.nan
                try:
                    nbody.hermite(start, t_end=0.25, device=device)
                except ValueError as error:
                    assert "snapshot.pos[2, 1] is not a number" in str(error), error
                else:
                    raise SystemExit("no error")
            try:
                nbody.hermite(states[2], t_end=0.25, eta=0.01 * (comm.rank + 1), device=device)
            except TypeError as error:
                assert "parameters and times of hermite: differ between ranks" in str(error)
            else:
                raise SystemExit("no error")
        energies = comm.allgather(states[0].run.start_energy)
        both = comm.allgather([s.time for s in states])
        assert both[0] == both[1] and len(states) == 5, both
        # Stars in rank order have the same bits in one process.
        order = np.r_[0:20:2, 1:20:2]
        stars = nbody.Snapshot(stars.pos[order], stars.vel[order], stars.mass[order])
        with gdr.open("emulator", threads=1) as device:
            alone = list(nbody.hermite(stars, eps=0.02, t_end=0.25, device=device))
        energy = nbody.energies(alone[0]).total
        assert energies[0] == energies[1] and abs(energies[0] / energy - 1) < 1e-12
        own = slice(10 * comm.rank, 10 * comm.rank + 10)
        for a, b in zip(states, alone):
            assert np.array_equal(a.pos, b.pos[own]) and np.array_equal(a.vel, b.vel[own])
        steps = sum(comm.allgather(states[-1].blocks.particle_steps))
        assert steps == alone[-1].blocks.particle_steps
        """,
    )
    python(program, ranks=2)


@pytest.mark.parametrize("level", ["single", "serialized"])
def test_mpi_without_thread_multiple_works_in_the_calling_thread(tmp_path, level):
    program = script(
        tmp_path,
        f"""
        import mpi4py
        mpi4py.rc.thread_level = "{level}"
        import numpy as np, gdr
        from mpi4py import MPI
        assert MPI.Query_thread() < MPI.THREAD_MULTIPLE
        with gdr.open("mpi", comm=MPI.COMM_WORLD, threads=1) as device:
            acc, _ = gdr.gravity(np.eye(3), 1.0, 0.1, device=device)
            job = device.job(gdr.builtin("lennard_jones"))
            job.set(rc2=9.0)
            x = np.arange(4.0)
            job.sources(xj=x, yj=0, zj=0)
            job.targets(xi=x + 0.5, yi=0, zi=0)
            job.start()
            assert np.isfinite(job.wait()["u"]).all()
        assert np.isfinite(acc).all()
        """,
    )
    python(program, ranks=2)


def test_distributed_matrices_are_bit_identical_on_any_grid(tmp_path):
    """On one rank and on four, for any grid; invalid arguments of one rank raise on all."""
    program = script(
        tmp_path,
        """
        import sys
        import numpy as np, gdr
        from gdr import linalg
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        random = np.random.default_rng(1)
        a, b = random.normal(size=(90, 70)), random.normal(size=(70, 50))
        square, right = random.normal(size=(70, 70)), random.normal(size=70)
        with gdr.open("mpi", comm=comm, threads=1, chips=1) as device:
            for rows in (0, 1, 4) if comm.size == 4 else (0,):
                grid = linalg.DistributedMatrices(device, rows=rows, block=16)
                assert grid.grid == {0: (2, 2), 1: (1, 4), 4: (4, 1)}[rows] or comm.size == 1
                x, y = grid.from_array(a), grid.from_array(b)
                assert sum(comm.allgather(x.local.size)) == a.size
                assert np.array_equal(x.to_array(), a)
                product = grid.matmul(x, y).to_array()
                s = grid.from_function((70, 70), lambda i, j: square[i, j])
                f = grid.lu(s)
                factors, solution = f.factors.to_array(), grid.solve(s, right)
                results = {"product": product, "factors": factors, "pivots": f.pivots,
                           "solution": solution}
                for name, array in results.items():
                    assert all(np.array_equal(array, other) for other in comm.allgather(array))
                if comm.rank == 0:
                    np.savez(f"{sys.argv[1]}.{comm.size}.{rows}.npz", **results)
            for wrong in (
                lambda: grid.matmul(x, y if comm.rank == 0 else b),
                lambda: grid.solve(s, right if comm.rank == 0 else right[:3]),
                lambda: grid.from_array(square if comm.rank == 0 else square + 1j),
            ):
                try:
                    wrong()
                except (TypeError, ValueError) as error:
                    pass
                else:
                    assert comm.size == 1 and wrong is not None, "no error was raised"
            try:
                grid.solve(grid.zeros((9, 9)), np.ones(9))
            except linalg.LinAlgError as error:
                assert "pivot 0 is exactly zero" in str(error)
            else:
                raise SystemExit("no matrix was singular")
            assert np.array_equal(x.to_array(), a)
        """,
    )
    out = tmp_path / "results"
    python(program, out, ranks=1)
    python(program, out, ranks=4)
    want = np.load(f"{out}.1.0.npz")
    random = np.random.default_rng(1)
    a, b = random.normal(size=(90, 70)), random.normal(size=(70, 50))
    square, right = random.normal(size=(70, 70)), random.normal(size=70)
    assert np.allclose(want["product"], a @ b, rtol=1e-12)
    assert np.allclose(want["solution"], np.linalg.solve(square, right), rtol=1e-9)
    for rows in (0, 1, 4):
        got = np.load(f"{out}.4.{rows}.npz")
        for name in want.files:
            assert np.array_equal(got[name], want[name]), (rows, name)


ULFM = pathlib.Path(os.environ.get("GDR_ULFM_LAUNCHER", "nowhere"))
LOSSES = """
import os, signal, sys
import numpy as np, gdr
random = np.random.default_rng(1)
pos, mass = random.normal(size=(90, 3)), random.uniform(1, 2, 90)
calls = []
with gdr.open("mpi", threads=1) as device:
    first, ranks = device.rank, device.ranks

    def forces():
        calls.append(device.ranks)
        if len(calls) == 1 and first == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        mine = np.array_split(np.arange(90), device.ranks)[device.rank]
        acc = np.zeros((90, 3))
        acc[mine] = gdr.gravity(pos[mine], mass[mine], 0.1, device=device).acc
        return sum(device.gather_for_test(acc))

    def gathered(array):
        whole = np.frombuffer(device._core.gather_bytes(array.tobytes()))
        return whole.reshape(device.ranks, *array.shape)

    device.gather_for_test = gathered
    if sys.argv[1] == "by itself":
        acc = device.retry_on_rank_failure(forces)
    else:
        try:
            forces()
        except gdr.RankFailure as error:
            assert "rank" in str(error)
        else:
            sys.exit("no rank failed")
        assert device.shrink() == [1]
        acc = forces()
    assert (ranks, device.ranks) == (3, 2) and calls == [3, 2], calls
    assert device.rank == (0 if first == 0 else 1)
    assert device.statistics.failed_ranks == (1,)
    want = gdr.gravity(pos, mass, 0.1).acc
    assert np.array_equal(acc, want)

    # A collective error is raised unchanged on all ranks and does not trigger a retry.
    def wrong():
        gdr.gravity(pos if device.rank == 0 else pos * np.nan, mass, 0.1, device=device)

    try:
        device.retry_on_rank_failure(wrong)
    except ValueError as error:
        told = str(error)
    assert "pos" in told or "rank 1" in told, told
    print("survived", device.rank)
    sys.stdout.flush()
"""


@pytest.mark.skipif(not ULFM.exists(), reason="no MPI with ULFM is installed (cmake/ulfm.sh)")
@pytest.mark.parametrize("how", ["by itself", "by hand"])
def test_remaining_ranks_continue_after_a_rank_failure(tmp_path, how):
    plugin = pathlib.Path(gdr._core.library_folder()) / "libgdr_mpi_ulfm.so"
    done = subprocess.run(
        [ULFM, "--with-ft", "ulfm", "--oversubscribe", "--bind-to", "none", "-n", "3"]
        + [sys.executable, script(tmp_path, LOSSES), how],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={
            **mpi_environment(),
            **{"OMP_NUM_THREADS": "1", "GDR_MPI_LIBRARY": str(plugin)},
        },
    )
    survived = [line for line in done.stdout.splitlines() if line.startswith("survived")]
    assert sorted(survived) == ["survived 0", "survived 1"], done.stdout + done.stderr


def test_the_example_output_is_independent_of_the_number_of_ranks():
    example = ROOT / "examples" / "python" / "mpi_cluster.py"
    one, two = (python(example, 96, 8, ranks=n).stdout for n in (1, 2))
    assert one == two and one.startswith("energy -0.")


def test_units_that_differ_between_ranks_are_an_error_on_all(tmp_path):
    pytest.importorskip("astropy", reason="the package astropy is not installed")
    program = script(
        tmp_path,
        """
        import numpy as np, gdr
        from astropy import units as u
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        pos = np.random.default_rng(comm.rank).normal(size=(20, 3))
        mass = np.full(20, 2.0)
        with gdr.open("mpi", comm=comm, threads=1) as device:
            r = gdr.gravity(pos * u.kpc, mass * u.Msun, 1 * u.pc, device=device)
            assert r.acc.unit == u.m / u.s**2
            for units in ((u.kpc, u.pc), (u.kpc, u.one)):
                unit = units[comm.rank]
                kind = u.Msun if unit is not u.one else u.one
                soft = 1 * u.pc if unit is not u.one else 0.1
                try:
                    gdr.gravity(pos * unit, mass * kind, soft, device=device)
                    raise SystemExit("no error")
                except TypeError as error:
                    assert "units: differ between ranks" in str(error), error
            again = gdr.gravity(pos * u.kpc, mass * u.Msun, 1 * u.pc, device=device)
            assert np.array_equal(again.acc, r.acc)
        """,
    )
    python(program, ranks=2)
