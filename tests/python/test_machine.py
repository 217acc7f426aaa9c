"""The chip stepper: comparison with device runs, memories in every format, reduction, flags."""

import threading
from fractions import Fraction

import numpy as np
import pytest

import gdr
from gdr._machine import decode, encode


def arrays(rng, n):
    x = rng.normal(size=(n, 3))
    return x, rng.uniform(1, 2, n), np.arange(n)


@pytest.mark.parametrize("engine", ["vector", "reference"])
@pytest.mark.parametrize("n", [1, 7, 200])
def test_stepping_is_bit_identical_to_a_run(rng, engine, n):
    """Includes more sources than fit into the broadcast memory."""
    x, m, ids = arrays(rng, n)
    machine = gdr.Machine(blocks=2, pes=2, bm=128, engine=engine)
    machine.load(gdr.builtin("gravity"))
    machine.set(eps2=0.01)
    machine.sources(xj=x[:, 0], yj=x[:, 1], zj=x[:, 2], mj=m, idj=ids)
    k = min(n, machine.target_slots)
    machine.targets(xi=x[:k, 0], yi=x[:k, 1], zi=x[:k, 2], idi=ids[:k])
    seen = [at.section for at in machine.steps()]
    assert seen[0] == "start" and seen[-1] == "end" and "body" in seen
    got = machine.results()
    with gdr.open("exact", partition="targets", chips=1) as device:
        job = device.job(gdr.builtin("gravity"))
        job.set(eps2=0.01)
        job.sources(xj=x[:, 0], yj=x[:, 1], zj=x[:, 2], mj=m, idj=ids)
        job.targets(xi=x[:k, 0], yi=x[:k, 1], zi=x[:k, 2], idi=ids[:k])
        want = job.run()
    for name in want:
        assert np.array_equal(got[name], want[name]), name
    # A second run gives the same results: no state remains from the first.
    machine.restart()
    assert machine.run() == len(seen)
    assert np.array_equal(machine.results()["ax"], want["ax"])


def test_position_describes_the_next_instruction():
    kernel = gdr.builtin("lennard_jones")
    machine = gdr.Machine(blocks=1, pes=1)
    with pytest.raises(gdr.UsageError, match="no program"):
        machine.step()
    machine.load(kernel)
    machine.set(rc2=9.0)
    machine.sources(xj=[0.0], yj=[0.0], zj=[0.0])
    machine.targets(xi=[1.5], yi=[0.0], zi=[0.0])
    texts = machine.instructions("body")
    assert machine.position.clock == 0 and machine.position.iteration == 0
    for at in machine.steps():
        if at.section == "body":
            assert at.text == texts[at.instruction]
    end = machine.position
    assert end.section == "" and end.clock > 0
    assert not machine.step()
    r6 = 1.5**-6
    assert machine.results(["u"])["u"][0] == pytest.approx(4 * (r6 * r6 - r6), rel=1e-6)


def test_memory_shapes_follow_the_geometry():
    machine = gdr.Machine(blocks=3, pes=5, registers=16, local=32, bm=64)
    assert machine.read("registers").shape == (3, 16, 5)
    assert machine.read("registers", long=False).shape == (3, 32, 5)
    assert machine.read("local", "float").shape == (3, 32, 5)
    assert machine.read("t", "float").shape == (3, 4, 5)
    assert machine.read("masks").shape == (3, 32, 5) and machine.read("masks").dtype == bool
    assert machine.read("broadcast", "int").shape == (3, 64)


def exact(word, bits):
    """The value of a word by definition, as a fraction: the reference of the formats."""
    digits = bits - 12
    sign, exponent = word >> (bits - 1), word >> digits & 2047
    fraction = Fraction(word & (2**digits - 1), 2**digits)
    if exponent == 0:
        return Fraction(0)
    return (-1) ** sign * (1 + fraction) * Fraction(2) ** (exponent - 1023)


def test_word_formats_agree_with_exact_fractions(rng):
    machine = gdr.Machine(blocks=1, pes=2)
    for _ in range(200):
        exponent = int(rng.integers(1, 2047))
        word = int(rng.integers(2)) << 71 | exponent << 60 | int(rng.integers(2**60))
        machine.write("registers", 0, 3, word, pe=1)
        read = {f: machine.read("registers", f)[0, 3, 1] for f in ("raw", "float", "int")}
        assert read["raw"] == word
        assert read["int"] == word - (word >> 71 << 72)
        value = exact(word, 72)
        wide = machine.read("registers", "longdouble")[0, 3, 1]
        numerator, denominator = wide.as_integer_ratio()
        assert Fraction(numerator, denominator) == value
        if exponent < 2046:
            assert read["float"] == float(value)
        short = word >> 36
        machine.write("local", 0, 5, short, long=False)
        assert machine.read("local", "float", long=False)[0, 5, 0] == float(exact(short, 36))
        assert (
            machine.read("local", "fixed.20", long=False)[0, 5, 0]
            == (short - (short >> 35 << 36)) / 2.0**20
        )


def test_special_values_survive_encoding_and_decoding():
    for bits in (36, 72):
        for value in (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, 1e300, np.nan):
            word = encode(value, "float", bits)
            upper = np.array([word >> (bits - 36)], np.uint64)
            lower = np.array([word & (2**36 - 1)], np.uint64) if bits == 72 else None
            back = decode(upper, lower, "float")[0]
            want = value if bits == 72 or value != 1e300 else back
            assert np.array_equal(back, want, equal_nan=True)
            assert np.signbit(back) == np.signbit(value) or np.isnan(value)


def test_encoding_agrees_with_the_conversion_of_the_port(rng):
    """The reference is the port, which converts a short and a long input to words in the PEs."""
    kernel = gdr.compile("VARI long x; VARI short y; VARJ z; VARF f; f += x*z + y;")
    machine = gdr.Machine(blocks=1, pes=1)
    for value in np.concatenate(
        [rng.normal(size=50), [1 + 2.0**-25, 1 - 2.0**-26, 1 + 3 * 2.0**-25]]
    ):
        machine.load(kernel)
        machine.targets(1, x=value, y=value)
        words = {int(w) for w in machine.read("local", "raw", long=False).ravel()}
        words |= {int(w) for w in machine.read("registers", "raw", long=False).ravel()}
        longs = {int(w) for w in machine.read("local", "raw").ravel()}
        longs |= {int(w) for w in machine.read("registers", "raw").ravel()}
        assert encode(float(value), "float", 36) in words
        assert encode(float(value), "float", 72) in longs


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda m: m.read("regs"), ValueError, "memory"),
        (lambda m: m.read("local", "hex"), ValueError, "format"),
        (lambda m: m.write("local", 9, 0, 1), gdr.UsageError, "block 9"),
        (lambda m: m.write("local", 0, 10**6, 1), gdr.UsageError, "address"),
        (lambda m: m.write("local", 0, 0, 1, pe=2), gdr.UsageError, "PE 2"),
        (lambda m: m.write("local", 0, 0, 2**72), ValueError, "72 bits"),
        (lambda m: m.write("local", 0, 0, 1.5), TypeError, "integer"),
        (lambda m: m.load("gravity"), TypeError, "kernel"),
        (lambda m: gdr.Machine(engine="native"), gdr.UnsupportedError, "native"),
        (lambda m: gdr.Machine(blcks=2), gdr.UsageError, "blocks"),
    ],
)
def test_invalid_arguments_raise_an_error_with_the_argument(call, kind, message):
    with pytest.raises(kind, match=message):
        call(gdr.Machine(blocks=1, pes=2))


def test_exceeding_the_chip_raises_an_error():
    machine = gdr.Machine(blocks=1, pes=1)
    machine.load(gdr.builtin("lennard_jones"))
    x = np.zeros(machine.target_slots + 1)
    with pytest.raises(gdr.UsageError, match="targets do not fit"):
        machine.targets(xi=x, yi=x, zi=x)
    with pytest.raises(gdr.ProgramError):
        gdr.Machine(blocks=1, pes=1, local=2).load(gdr.builtin("gravity_jerk"))


def test_reduction_adds_in_tree_order(rng):
    """Five blocks: ((0 + 1) + (2 + 3)) + 4, each sum rounded to 61 bits."""
    machine = gdr.Machine(blocks=5, pes=2)
    values = rng.normal(size=(5, 2)) * 10.0 ** rng.integers(-8, 8, (5, 2))
    for block in range(5):
        for pe in range(2):
            machine.write("local", block, 3, values[block, pe], pe=pe, format="float")
        machine.write("broadcast", block, 7, int(values[block, 0] * 1e6), format="int")
    for pe in range(2):
        a, b, c, d, e = values[:, pe].astype(np.longdouble)
        want = ((a + b) + (c + d)) + e
        got = machine.reduce("local", "fadd", "longdouble")[3, pe]
        assert abs(got - want) <= abs(values[:, pe]).max() * 2.0**-58
        assert machine.reduce("local", "fmax")[3, pe] == values[:, pe].max()
        assert machine.reduce("local", "pass")[3, pe] == values[0, pe]
    numbers = [int(v * 1e6) for v in values[:, 0]]
    assert machine.reduce("broadcast", "iadd", "int")[7] == sum(numbers)
    assert machine.reduce("broadcast", "imin", "int")[7] == min(numbers)
    assert machine.reduce("registers").shape == (32, 2)
    with pytest.raises(gdr.UsageError, match='reduction "add"'):
        machine.reduce("local", "add")
    with pytest.raises(gdr.UsageError, match="masks do not pass"):
        machine.reduce("masks")


@pytest.mark.parametrize("engine", ["vector", "reference"])
def test_flags_are_sticky_until_restart(engine):
    kernel = gdr.compile("kernel big; VARI x; VARJ y; VARF f; f += x*y;")
    machine = gdr.Machine(blocks=2, pes=1, engine=engine)
    machine.load(kernel)
    machine.sources(y=[1e300])
    machine.targets(x=[1.0])
    machine.run()
    assert machine.flags() == (False, False, False)
    machine.targets(x=[1e300])
    machine.run()
    assert machine.flags(0).overflow and machine.flags().overflow
    assert not machine.flags(0).invalid and not machine.flags(1).overflow
    machine.restart()
    assert machine.flags() == (False, False, False)
    machine.sources(y=[1e-300])
    machine.targets(x=[1e-300])
    machine.run()
    assert machine.flags().underflow and not machine.flags().overflow
    with pytest.raises(gdr.UsageError, match="block 2"):
        machine.flags(2)


def test_steps_have_source_lines_and_change_memories():
    text = "VARI x;\nVARJ y;\nVARF f;\nf += x*y;\n"
    machine = gdr.Machine(blocks=1, pes=1)
    machine.load(gdr.compile(text, "twice"))
    machine.sources(y=[3.0])
    machine.targets(x=[2.0])
    assert machine.target_count == 1
    changed = set()
    kinds = ("registers", "local", "t", "masks", "broadcast")
    before = {kind: machine.read(kind).copy() for kind in kinds}
    for at in machine.steps():
        after = {kind: machine.read(kind) for kind in kinds}
        changed |= {kind for kind in kinds if not np.array_equal(before[kind], after[kind])}
        before = {kind: value.copy() for kind, value in after.items()}
        assert at.line > 0 and at.text
    assert {"registers", "broadcast"} & changed
    assert machine.results()["f"][0] == 6.0


def test_threads_may_read_and_load_a_running_chip(rng):
    """Other threads use the chip between two chunks of a run."""
    machine = gdr.Machine(blocks=4, pes=8)
    x = rng.normal(size=3000)

    def prepare():
        machine.load(gdr.builtin("lennard_jones"))
        machine.set(rc2=9.0)
        machine.sources(xj=x, yj=x, zj=x)
        machine.targets(xi=x[:32], yi=x[:32], zi=x[:32])

    prepare()
    done = [0]
    thread = threading.Thread(target=lambda: done.append(machine.run()))
    thread.start()
    clocks = []
    while thread.is_alive():
        clocks.append(machine.position.clock)
        assert machine.read("registers").shape == (4, 32, 8)
    thread.join()
    assert clocks == sorted(clocks) and done[-1] > 3000 and len(set(clocks)) > 1
    prepare()
    thread = threading.Thread(target=lambda: done.append(machine.run()))
    thread.start()
    for _ in range(20):
        prepare()
    thread.join(60)
    assert not thread.is_alive()
