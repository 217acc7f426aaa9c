"""Many systems in one call: messages about labels and offsets have the caller's words."""

import numpy as np
import pytest

import gdr

X = np.random.default_rng(3).normal(size=(10, 3))
Q = np.ones(10)
LABELS = np.arange(10) // 5


@gdr.kernel
def charges(i, j):
    d = i.x - j.x
    i.pot += j.q / np.sqrt(np.dot(d, d) + 0.01)


def run(x=X, q=Q, **systems):
    return charges(targets={"x": X}, sources={"x": x, "q": q}, **systems).pot


def test_labels_and_offsets_of_two_systems_give_their_sums():
    halves = [charges(targets={"x": X[s]}, sources={"x": X[s], "q": Q[s]}).pot for s in (slice(5), slice(5, 10))]
    want = np.concatenate(halves)
    assert np.array_equal(run(batch=(LABELS, LABELS)), want)
    assert np.array_equal(run(offsets=([0, 5, 10], [0, 5, 10])), want)
    # Sources after the last offset belong to no system.
    assert np.array_equal(run(np.vstack([X, X]), 1.0, offsets=([0, 5, 10], [0, 5, 10])), want)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"batch": (LABELS[:9], LABELS)}, r"targets: x has 10 values, but batch\[0\] has 9 labels"),
        ({"batch": (LABELS, LABELS[:9])}, r"sources: x has 10 values, but batch\[1\] has 9 labels"),
        (
            {"batch": (LABELS, LABELS), "q": Q[:9]},
            r"sources: q has 9 values, but batch\[1\] has 10 labels",
        ),
        ({"offsets": ([0, 11], [0, 10])}, r"targets: x has 10 values, but offsets\[0\] ends with 11"),
        ({"offsets": ([0, 9], [0, 10])}, r"targets: x has 10 values, but offsets\[0\] ends with 9"),
        ({"offsets": ([0, 10], [0, 11])}, r"sources: x has 10 values, but offsets\[1\] ends with 11"),
        ({"offsets": ([0, 7, 10], [0, 7, 3])}, r"offsets\[1\]\[2\] is 3, less than the offset before"),
        ({"offsets": ([-1, 10], [0, 10])}, r"offsets\[0\]\[0\] is -1, which is negative"),
        ({"offsets": ([1, 10], [0, 10])}, r"offsets\[0\]\[0\] is 1: the targets before have no system"),
        ({"offsets": ([], [])}, r"offsets\[0\]: expected one more offset than sets"),
        ({"offsets": ([0, 7, 10], [0, 10])}, "offsets: both need .* but they have 3 and 2"),
        ({"batch": (LABELS, LABELS), "offsets": ([0], [0])}, "batch and offsets: give one of them"),
    ],
)
def test_wrong_labels_and_offsets_are_named_as_the_caller_gave_them(given, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        run(**given)
