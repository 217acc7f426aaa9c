"""Sums over particles on ranks: with a cut-off, with trees, in periodic boxes, of charges, of fluids."""

from rank_programs import python, script


def test_cutoffs_and_trees_have_the_bits_of_one_process(tmp_path):
    """One of three ranks has no particles."""
    program = script(
        tmp_path,
        """
        import numpy as np, gdr
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        random = np.random.default_rng(2)
        pos, charge = random.uniform(0, 8, (900, 3)), random.uniform(0.5, 1, 900)
        ends = [0, 0, 700, 900]
        mine = slice(ends[comm.rank], ends[comm.rank + 1])
        law = "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj; VARF f, n; CONST k;" \
              "dx = xj - xi; f += k*qj*dx*dx; n += 1;"

        def compute(device, part):
            sum = gdr.PairSum(law, 1.5, box=(8, 8, 8), device=device, k=2.0)
            first = sum(pos[part], sources={"qj": charge[part]})
            again = sum(pos[part] + 0.01, sources={"qj": charge[part]})
            assert sum.statistics.lists_made == 1
            tree = gdr.gravity(pos[part], charge[part], 0.1, method="multipole", accuracy=1e-4,
                               device=device)
            few = gdr.gravity(pos[part], charge[part], 0.1, pos[:4], accuracy=1e-3, device=device)
            assert few.tree.method == "direct"
            return [first.f, first.n, again.f, tree.acc, tree.pot, few.acc], tree.tree.error

        def error_of(call, *arguments, **named):
            try:
                call(*arguments, **named)
            except Exception as error:
                return type(error).__name__, str(error)

        with gdr.open("mpi", comm=comm, threads=1) as device:
            got, error = compute(device, mine)
            sum = gdr.PairSum(law, 1.5, device=device, k=1.0)
            none = np.zeros((0, 3)) if comm.rank == 1 else pos[:5]
            wrong = "five" if comm.rank == 1 else np.ones(len(none))
            errors = [error_of(sum, none, sources={"qj": wrong}),
                      error_of(sum, np.full((2, 3), np.nan if comm.rank == 2 else 1.0),
                               sources={"qj": np.ones(2)}),
                      error_of(gdr.PairSum, law, 0.0 if comm.rank == 2 else 1.0, device=device),
                      error_of(gdr.gravity, pos[mine], charge[mine], 0.1, device=device,
                               accuracy=1e-3 if comm.rank else 1e-4)]
            fine = sum(pos[:5], sources={"qj": np.ones(5)})
            assert len(fine.f) == 5
        alone, expected = compute(gdr.open("emulator", threads=1), slice(None))
        assert error == expected > 0
        for ours, theirs in zip(got[:-1], alone):
            assert np.array_equal(ours, theirs[mine])
        assert np.array_equal(got[-1], alone[-1])
        assert all(errors), errors
        assert "qj" in errors[0][1] and "pos" in errors[1][1] and "cutoff" in errors[2][1], errors
        assert ("rank 2" in errors[1][1]) == (comm.rank != 2), errors
        assert "options of the tree" in errors[3][1], errors
        """,
    )
    python(program, ranks=3)


def test_trees_ewald_and_sph_sums_have_the_bits_of_one_process(tmp_path):
    """One of three ranks has no particles."""
    program = script(
        tmp_path,
        """
        import numpy as np, gdr
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        random = np.random.default_rng(3)
        pos, charge = random.uniform(0, 8, (700, 3)), random.uniform(0.5, 1, 700)
        vel = random.normal(size=(700, 3))
        ends = [0, 0, 500, 700]
        mine = slice(ends[comm.rank], ends[comm.rank + 1])
        law = "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj; VARF f; CONST k;" \
              "dx = xj - xi; dy = yj - yi; dz = zj - zi; f += k*qj/(dx*dx + dy*dy + dz*dz + 1);"
        box = (8, 8, 9)

        def compute(device, part):
            x, q = pos[part], charge[part]
            jerk = gdr.gravity(x, q, 0.1, vel=vel[part], method="multipole", degree=3,
                               theta=0.5, device=device)
            plain = gdr.gravity(x, q, 0.1, vel=vel[part], device=device)
            tree = gdr.TreeSum(law, theta=0.6, device=device, k=2.0)
            sums = tree(x, sources={"qj": q})
            direct = gdr.TreeSum(law, device=device)(x, sources={"qj": q}, k=1.0)
            salt = gdr.ewald(x, q, box, accuracy=1e-4, device=device)
            gas = gdr.sph.smoothing_lengths(x, q, box=box, device=device)
            pull = gdr.sph.forces(x, vel[part], q, gas.h, gas.rho, q, 1.0, box=box, device=device)
            near = gdr.sph.density(x, q, gas.h, box=box, device=device).near
            numbers = [tree.report.error, salt.energy, *salt.virial.flat, gas.iterations]
            return [jerk.acc, jerk.jerk, plain.jerk, sums.f, direct.f, salt.force, gas.h, gas.rho,
                    near, pull.acc, pull.dudt], numbers

        def error_of(call, *arguments, **named):
            try:
                call(*arguments, **named)
            except Exception as error:
                return str(error)

        with gdr.open("mpi", comm=comm, threads=1) as device:
            got, numbers = compute(device, mine)
            last = comm.rank == 2
            x, q = pos[:9], charge[:9]
            tree = gdr.TreeSum(law, device=device, k=1.0)
            errors = [error_of(tree, x, sources={"qj": "five" if last else q}),
                      error_of(tree, x, sources={"qj": q}, k=2.0 if last else 1.0),
                      error_of(gdr.TreeSum, law, 2.0 if last else 0.1, device=device),
                      error_of(gdr.ewald, x, q, None if last else box, device=device),
                      error_of(gdr.ewald, x, q, (8, 8, 7) if last else box, device=device),
                      error_of(gdr.sph.density, x, q, -1.0 if last else 1.0, device=device),
                      error_of(gdr.sph.density, x, q, 1.0, box=box if last else (8, 8, 8),
                               device=device),
                      error_of(gdr.gravity, x, q, 0.1, vel=x[:3] if last else x, device=device)]
            tree.set(k=1.0)
            fine = tree(x, sources={"qj": q})
        alone, expected = compute(gdr.open("emulator", threads=1), slice(None))
        assert numbers == expected, (numbers, expected)
        for ours, theirs in zip(got, alone):
            assert np.array_equal(ours, theirs[mine])
        parts = ["qj", "param", "accuracy", "box", "another box", "h", "another box", "vel"]
        assert all(part in (error or "") for part, error in zip(parts, errors)), errors
        assert len(fine.f) == 9
        """,
    )
    python(program, ranks=3)


def test_interrupting_one_rank_stops_trees_ewald_and_sph_sums_on_all(tmp_path):
    program = script(
        tmp_path,
        """
        import os, signal, threading, time
        import numpy as np, gdr
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        pos = np.random.default_rng(comm.rank).uniform(0, 1, (20000, 3))
        law = "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj; VARF f;" \
              "dx = xj - xi; dy = yj - yi; dz = zj - zi; f += qj/(dx*dx + dy*dy + dz*dz + 1);"
        with gdr.open("mpi", comm=comm, threads=1, engine="native") as device:
            tree = gdr.TreeSum(law, theta=0.05, device=device)
            calls = {
                "jerk": lambda x: gdr.gravity(x, 1.0, 0.1, vel=x, theta=0.05, method="multipole",
                                              device=device).jerk,
                "tree": lambda x: tree(x, sources={"qj": np.ones(len(x))}).f,
                "ewald": lambda x: gdr.ewald(x, 1.0, (1, 1, 1), accuracy=1e-9, device=device).force,
                "sph": lambda x: gdr.sph.density(x, 1.0, 0.4, device=device).rho,
            }
            for name, call in calls.items():
                small = call(pos[:50])
                comm.Barrier()
                if comm.rank == 1:
                    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                try:
                    call(pos)
                except KeyboardInterrupt:
                    told = "interrupted"
                except gdr.DeviceError as error:
                    told = str(error)
                else:
                    told = "done"
                told = comm.allgather(told)
                assert told[1] == "interrupted" and told[0].startswith("rank 1"), (name, told)
                assert np.array_equal(call(pos[:50]), small), name
        """,
    )
    python(program, ranks=2)


def test_ranked_and_weighted_results_of_ranks_have_the_bits_of_one_process(tmp_path):
    program = script(
        tmp_path,
        """
        import numpy as np, gdr
        from gdr.functions import logsumexp, smallest
        from mpi4py import MPI

        @gdr.kernel(effort=0)
        def near(i, j):
            if i.id == j.id:
                return
            d = j.x - i.x
            i.r2, i.n = smallest((i.r2, i.n), (np.dot(d, d), j.id), 5)
            i.l, i.m = logsumexp((i.l, i.m), (-np.dot(d, d), d[0]))
            i.p *= 1 + 0.01 * d[0]
            i.any |= d[0] > 2

        comm = MPI.COMM_WORLD
        x, ids = np.random.default_rng(7).normal(size=(300, 3)), np.arange(300)
        own = {"x": x, "id": ids}
        mine = slice(0, 131) if comm.rank == 0 else slice(131, 300)
        part = {"x": x[mine], "id": ids[mine]}
        for engine in ("native", "vector"):
            with gdr.open(f"emulator:engine={engine}") as device:
                alone = near(targets=own, sources=own, device=device)
            with gdr.open(f"mpi:engine={engine}", comm=comm) as device:
                shared = near(targets=part, sources=part, device=device)
            assert all((shared[k] == a[mine]).all() for k, a in alone.items()), engine
        print("the same")
        """,
    )
    assert python(program, ranks=2).stdout.count("the same") == 2
