"""Devices: names, options, statistics, the end of their lives, signals and threads."""

import gc
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pytest

import gdr


def test_open_takes_a_name_and_options():
    with gdr.open("emulator:boards=2", chips=2, engine="reference") as device:
        assert device.description.startswith("emulator: 2 boards of 2 chips, reference engine")
        assert device.target_slots(gdr.builtin("gravity")) == 2 * 2 * 2048
        assert "reference" in repr(device)
    assert device.closed and "closed" in repr(device)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"name": "emulatr"}, gdr.UsageError, 'did you mean "emulator"'),
        ({"engine": "vectr"}, gdr.UsageError, "vector"),
        ({"bords": 2}, gdr.UsageError, "boards"),
        ({"boards": 0}, gdr.UsageError, "boards"),
        ({"boards": True}, TypeError, "boards: a string or a number"),
        ({"engine": "a,b"}, ValueError, "engine: .* comma"),
        ({"name": 3}, TypeError, "name: a string"),
    ],
)
def test_wrong_names_are_refused_with_the_right_one(arguments, kind, message):
    with pytest.raises(kind, match=message):
        gdr.open(**arguments)


def test_errors_have_categories_and_are_the_usual_exceptions():
    for kind, base, category in (
        (gdr.UsageError, ValueError, "Usage"),
        (gdr.InputError, ValueError, "Input"),
        (gdr.ProgramError, ValueError, "Program"),
        (gdr.FileError, OSError, "Io"),
        (gdr.DeviceError, RuntimeError, "Device"),
        (gdr.UnsupportedError, RuntimeError, "Unsupported"),
        (gdr.InternalError, RuntimeError, "Internal"),
    ):
        assert issubclass(kind, base) and issubclass(kind, gdr.Error)
        assert kind.category == category
    with pytest.raises(gdr.FileError, match="no_such"):
        gdr.load("no_such.gds")


def test_a_closed_device_says_so():
    device = gdr.open()
    job = device.job(gdr.builtin("lennard_jones"))
    device.close()
    device.close()
    for use in (
        lambda: gdr.gravity(np.zeros((1, 3)), 1.0, device=device),
        lambda: device.statistics,
        lambda: job.set(rc2=1.0),
        lambda: gdr.linalg.matmul(np.eye(2), np.eye(2), device=device),
    ):
        with pytest.raises(gdr.DeviceError, match="closed"):
            use()


def test_statistics_count(device):
    pos = np.random.default_rng(1).normal(size=(500, 3))
    gdr.gravity(pos, 1.0, 0.1, device=device)
    s = device.statistics
    assert s.interactions == 500**2 and s.flops == 38 * 500**2 and s.runs == 1
    assert s.predicted_seconds > 0 and s.predicted_gflops > 0 and s.host_seconds > 0
    device.reset_statistics()
    assert device.statistics.interactions == 0


def test_the_default_device_is_shared_and_can_be_set(device):
    before = gdr.default_device()
    assert gdr.default_device() is before
    gdr.set_default_device(device)
    try:
        gdr.gravity(np.eye(3), 1.0, 0.1)
        assert device.statistics.interactions == 9
    finally:
        gdr.set_default_device(before)


def test_boards_are_tested_on_request_and_in_the_background(device):
    tests = device.test(2)
    assert len(tests) == 1 and tests[0].passed and tests[0].seconds > 0 and tests[0].board
    with gdr.open("emulator", chips=1, blocks=2, health_check=0.05) as checked:
        for _ in range(200):
            if checked.statistics.checks >= 2:
                break
            time.sleep(0.05)
        assert checked.statistics.checks >= 2 and checked.statistics.lost_boards == 0
    with gdr.open("emulator", boards=np.int64(3), chips=1, self_test=False) as three:
        assert len(three.test()) == 3


def test_measured_times_are_told(device):
    pos = np.random.default_rng(1).normal(size=(2000, 3))
    gdr.gravity(pos, 1.0, 0.1, device=device)
    s = device.statistics
    assert s.conversion_seconds > 0 and s.transfer_seconds >= 0
    assert 0 < s.board_seconds <= s.host_seconds * 1.01 and s.overlap_seconds >= 0
    assert s.lost_boards == 0 and s.lost_ranks == ()


def test_another_thread_can_interrupt_what_runs(device):
    job = device.job(gdr.builtin("lennard_jones"))
    job.set(rc2=1.0)
    x, y, z = POS.T
    job.sources(xj=x, yj=y, zj=z)
    job.targets(xi=x, yi=y, zi=z)
    assert job.source_count == job.target_count == len(POS)
    stopped = threading.Event()

    def stop():
        while not stopped.is_set():
            time.sleep(0.05)
            device.interrupt()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(gdr.DeviceError, match="interrupted|stopped|cancelled"):
        job.run(["u"])
    stopped.set()
    thread.join()
    job.targets(xi=x[:4], yi=y[:4], zi=z[:4])
    assert np.isfinite(job.run(["u"])["u"]).all()


def test_where_nothing_can_be_lost_work_is_just_done(device):
    calls = []
    assert device.despite_losses(lambda: calls.append(1) or "done") == "done"
    assert calls == [1]
    with pytest.raises(ZeroDivisionError):
        device.despite_losses(lambda: 1 // 0)
    with pytest.raises(TypeError, match="work: a function"):
        device.despite_losses(3)
    assert device.despite_losses(lambda: device.despite_losses(lambda: 7)) == 7


def test_a_device_can_be_closed_while_others_ask_for_it():
    for _ in range(20):
        device = gdr.open("emulator", chips=1, blocks=2)
        begun, told = threading.Event(), []

        def ask(device=device, begun=begun, told=told):
            try:
                while True:
                    device.statistics
                    begun.set()
            except gdr.DeviceError as error:
                told.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        begun.wait()
        device.close()
        thread.join(10)
        assert told == ["the device has been closed"]


def test_other_threads_run_while_a_board_works(device):
    pos = np.random.default_rng(1).normal(size=(12000, 3))
    assert free_during(lambda: gdr.gravity(pos, 1.0, 0.1, device=device))


def test_other_threads_run_while_a_kernel_compiles():
    def compile_for_a_while():
        with pytest.raises(KeyboardInterrupt):
            interrupt_after(0.5)
            gdr.compile(LONG)

    assert free_during(compile_for_a_while)


def free_during(work):
    """Whether the GIL was free: a thread that counts goes on counting."""
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    work()
    spent = time.perf_counter() - begin
    during = counted[0]
    done.set()
    thread.join()
    return during > spent / 0.001 * 0.02  # 2 % of what a free thread does


def test_threads_share_a_device_in_turn(device):
    pos = np.random.default_rng(1).normal(size=(400, 3))
    want = gdr.gravity(pos, 1.0, 0.1, device=device)
    results = [None] * 8

    def work(k):
        results[k] = gdr.gravity(pos, 1.0, 0.1, device=device)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(r.acc, want.acc) for r in results)


def interrupt_after(seconds):
    def later():
        time.sleep(seconds)
        interrupt_after.sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=later).start()


POS = np.random.default_rng(5).normal(size=(400000, 3))


def long_gravity(device):
    gdr.gravity(POS, 1.0, 0.1, device=device)


def long_kernel(device):
    gdr.lennard_jones(POS, 1.0, device=device)


def long_background(device):
    job = device.job(gdr.builtin("lennard_jones"))
    x, y, z = POS.T
    job.sources(xj=x, yj=y, zj=z)
    job.targets(xi=x, yi=y, zi=z)
    job.start()
    job.wait()


def long_product(device):
    a = np.random.default_rng(1).normal(size=(6000, 6000))
    gdr.linalg.matmul(a, a, device=device)


def long_factorisation(device):
    gdr.linalg.lu(np.random.default_rng(1).normal(size=(6000, 6000)), device=device)


def long_cholesky(device):
    a = np.random.default_rng(1).normal(size=(5000, 5000))
    gdr.linalg.cholesky(a + a.T + 1000 * np.eye(5000), device=device)


def long_stack(device):
    stack = np.random.default_rng(1).normal(size=(400000, 8, 8))
    while True:
        gdr.linalg.batch_solve(stack, stack[:, 0], device=device)


def many_terms(n):
    """A kernel whose schedule is looked for for most of a minute."""
    lines = ["kernel terms; VARI x, y, z; VARJ xj, yj, zj, m; VARF f;"]
    lines += ["dx = xj - x; dy = yj - y; dz = zj - z;"]
    lines += ["r2 = dx*dx + dy*dy + dz*dz; a = rsqrt(r2 + m);"]
    lines += [f"t{k} = a*dx + {k}.5*dy*dz + {f't{k - 1}' if k else 'm'}*r2;" for k in range(n)]
    return "\n".join([*lines, *(f"f += t{n - 1}*dx + t{k}*dy;" for k in range(min(n, 6)))])


LONG = many_terms(10)


def long_compilation(device):
    while True:
        gdr.compile(LONG)


def long_load(device):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "long.gdk"
        path.write_text(LONG)
        while True:
            gdr.load(path)


def long_program_in_order(device):
    """Too many operations to overlap: no search that could be stopped."""
    while True:
        gdr.compile(many_terms(1500))


def long_stepping(device):
    machine = gdr.Machine(engine="reference")
    machine.load(gdr.builtin("lennard_jones"))
    machine.set(rc2=9.0)
    x, y, z = POS[:50000].T
    machine.sources(xj=x, yj=y, zj=z)
    machine.targets(xi=x[:2000], yi=y[:2000], zi=z[:2000])
    machine.run()


def long_test(device):
    device.test(1000000)


def long_product_in_the_background(device):
    a = np.random.default_rng(1).normal(size=(6000, 6000))
    product = gdr.linalg.MatrixProduct(device)
    product.start(a, a)
    product.wait()


def long_distributed_factorisation(device):
    grid = gdr.linalg.DistributedMatrices(device)
    grid.lu(grid.from_array(np.random.default_rng(1).normal(size=(6000, 6000))))


def long_triangle(device):
    a = np.random.default_rng(1).normal(size=(5000, 5000)) + 5000 * np.eye(5000)
    while True:
        gdr.linalg.solve_triangular(a, a, device=device)


def long_leapfrog(device):
    stars = gdr.nbody.plummer(3000, seed=1)
    for _ in gdr.nbody.leapfrog(stars, eps=0.1, dt=1e-3, t_end=1e6, device=device):
        pass


def long_hermite(device):
    stars = gdr.nbody.plummer(20000, seed=1)
    for _ in gdr.nbody.hermite(stars, eps=0.1, t_end=1e6, device=device):
        pass


@pytest.mark.parametrize(
    "work",
    [
        long_gravity,
        long_kernel,
        long_background,
        long_product,
        long_factorisation,
        long_cholesky,
        long_stack,
        long_compilation,
        long_load,
        long_program_in_order,
        long_stepping,
        long_test,
        long_product_in_the_background,
        long_distributed_factorisation,
        long_triangle,
        long_leapfrog,
        long_hermite,
    ],
)
def test_an_interrupt_is_heard_within_a_second(work, device):
    interrupt_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        work(device)
    took = time.perf_counter() - interrupt_after.sent
    # A second is promised to who has the machine for himself; with others on it, their share more.
    # Memory that was never touched takes its time on virtual machines.
    seconds = 2.0 if work in (long_stack, long_distributed_factorisation) else 1.0
    assert took < seconds * max(1.0, 2.0 * os.getloadavg()[0] / os.cpu_count())
    acc, _ = gdr.gravity([[0.0, 0, 0], [1.0, 0, 0]], 1.0, device=device)
    assert acc[0, 0] == pytest.approx(1.0, rel=1e-6)


def test_a_process_ends_soon_that_was_interrupted_while_it_compiled():
    program = (
        "import gdr, sys; sys.path.insert(0, sys.argv[1]); from test_device import many_terms\n"
        "print('begun', flush=True)\n"
        "while True: gdr.compile(many_terms(1500))\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, pathlib.Path(__file__).parent],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "begun\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=60)
    assert error.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode in (1, 130, -signal.SIGINT), child.returncode


@pytest.fixture()
def board(tmp_path):
    """The only board of a server in another process."""
    command = pathlib.Path(gdr._core.library_folder()) / "gdr"
    if not command.exists():
        pytest.skip("the command gdr was not built")
    socket = tmp_path / "socket"
    server = subprocess.Popen([command, "serve", "--socket", socket, "--boards", "1"])
    try:
        while not socket.exists() and server.poll() is None:
            time.sleep(0.01)
        yield f"board:unix:{socket}"
    finally:
        server.terminate()
        server.wait(30)


def test_waiting_for_a_board_that_is_taken_can_be_interrupted(board):
    with gdr.open(board) as owner:
        interrupt_after(0.5)
        with pytest.raises(KeyboardInterrupt):
            gdr.open(board, queue_timeout=100)
        assert time.perf_counter() - interrupt_after.sent < 2
        assert np.isfinite(gdr.gravity(np.eye(3), 1.0, 0.1, device=owner).acc).all()
    with gdr.open(board, queue_timeout=100) as next_owner:
        assert np.isfinite(gdr.gravity(np.eye(3), 1.0, 0.1, device=next_owner).acc).all()


def test_boards_elsewhere_have_tests_statistics_and_a_time_line(board):
    pos = np.random.default_rng(1).normal(size=(500, 3))
    with gdr.open(board, timeout=20, self_test=False) as device:
        assert [test.failure for test in device.test()] == [""]
        device.record_timeline()
        gdr.gravity(pos, 1.0, 0.1, device=device)
        parts = {event.part for event in device.timeline()}
        assert "board" in parts
        s = device.statistics
        assert s.interactions == 500**2 and s.lost_boards == 0 and s.board_seconds > 0
        assert np.array_equal(
            gdr.gravity(pos, 1.0, 0.1, device=device).acc, gdr.gravity(pos, 1.0, 0.1).acc
        )


def test_a_closed_device_frees_its_board_whatever_is_left_of_it(board):
    """Jobs and products kept it taken as long as somebody held them."""
    owner = gdr.open(board)
    job = owner.job(gdr.builtin("lennard_jones"))
    product, factors = gdr.linalg.MatrixProduct(owner), gdr.linalg.lu(np.eye(3), device=owner)
    gdr.gravity(np.eye(3), 1.0, 0.1, device=owner)
    owner.close()
    with gdr.open(board, queue_timeout=20) as next_owner:
        assert np.isfinite(gdr.gravity(np.eye(3), 1.0, 0.1, device=next_owner).acc).all()
    for use in (
        lambda: job.set(rc2=1.0),
        lambda: job.run(),
        lambda: job.ready,
        lambda: job.wait(),
        lambda: job.target_count,
        lambda: product.depth,
        lambda: product(np.eye(2), np.eye(2)),
        lambda: product.start(np.eye(2), np.eye(2)),
        lambda: factors.solve(np.ones(3)),
        lambda: gdr.gravity(np.eye(3), 1.0, device=owner),
    ):
        with pytest.raises(gdr.DeviceError, match="the device has been closed"):
            use()


def use_inherited(device, queue):
    try:
        gdr.gravity(np.eye(3), 1.0, 0.1, device=device)
        queue.put("worked")
    except gdr.DeviceError as error:
        queue.put(str(error))


def test_a_forked_child_is_told_to_open_its_own(device):
    gdr.gravity(np.eye(3), 1.0, 0.1, device=device)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=use_inherited, args=(device, queue))
    child.start()
    assert "forked" in queue.get(timeout=30)
    child.join(30)
    assert child.exitcode == 0


def test_kernels_can_be_pickled_and_devices_not(device):
    kernel = pickle.loads(pickle.dumps(gdr.builtin("coulomb")))
    assert kernel.object == gdr.builtin("coulomb").object
    with pytest.raises(TypeError):
        pickle.dumps(device)


def test_the_timeline_of_a_run(device):
    device.record_timeline()
    gdr.gravity(np.random.default_rng(1).normal(size=(1000, 3)), 1.0, 0.1, device=device)
    events = device.timeline()
    parts = {e.part for e in events}
    assert {"link write", "link read", "chip 0", "chip 3", "host"} <= parts
    assert {"run", "read targets", "write targets"} <= {e.what for e in events}
    assert all(0 <= e.begin <= e.end for e in events)
    # What is busy on the board fits into the predicted time; the host's part comes beside it.
    host = sum(e.end - e.begin for e in events if e.part == "host")
    last = max(e.end for e in events)
    assert last == pytest.approx(device.statistics.predicted_seconds + host, rel=1e-9)
    device.record_timeline(False)
    assert device.timeline() == []


def test_many_devices_and_jobs_leave_nothing_behind():
    for _ in range(20):
        device = gdr.open("emulator", chips=1, blocks=2)
        job = device.job(gdr.builtin("gravity"))
        del device, job
    gc.collect()
