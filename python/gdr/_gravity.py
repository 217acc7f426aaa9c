"""Gravity, directly or with a tree: ``gdr.gravity``."""

from __future__ import annotations

import operator
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, as_array, check_finite, floats, number
from ._forces import per_particle
from ._open import DeviceLike, device_or_default
from ._outputs import Outputs
from ._progress import FIRST_SECONDS, Bar
from ._ranks import mark_collective
from ._units import call_units
from .errors import InputError
from .results import Gravity, GravityJerk, TreeGravity, TreeGravityJerk, TreeReport

# Types of results: with an accuracy, a method or theta the result has the report of a tree.
@overload
def gravity(
    pos: Any,
    mass: Any,
    eps: Any = ...,
    targets: Optional[Any] = ...,
    *,
    vel: None = ...,
    target_vel: None = ...,
    target_eps: Optional[Any] = ...,
    accuracy: float,
    method: Optional[str] = ...,
    degree: Optional[int] = ...,
    theta: Optional[float] = ...,
    group_size: Optional[int] = ...,
    leaf_size: Optional[int] = ...,
    samples: Optional[int] = ...,
    calls: Optional[int] = ...,
    earlier: Optional[TreeReport] = ...,
    acc: Optional[Floats] = ...,
    jerk: None = ...,
    pot: Optional[Floats] = ...,
    dtype: Optional[Any] = ...,
    device: Optional[DeviceLike] = ...,
) -> TreeGravity: ...


@overload
def gravity(
    pos: Any,
    mass: Any,
    eps: Any = ...,
    targets: Optional[Any] = ...,
    *,
    vel: None = ...,
    target_vel: None = ...,
    target_eps: Optional[Any] = ...,
    accuracy: Optional[float] = ...,
    method: str,
    degree: Optional[int] = ...,
    theta: Optional[float] = ...,
    group_size: Optional[int] = ...,
    leaf_size: Optional[int] = ...,
    samples: Optional[int] = ...,
    calls: Optional[int] = ...,
    earlier: Optional[TreeReport] = ...,
    acc: Optional[Floats] = ...,
    jerk: None = ...,
    pot: Optional[Floats] = ...,
    dtype: Optional[Any] = ...,
    device: Optional[DeviceLike] = ...,
) -> TreeGravity: ...


@overload
def gravity(
    pos: Any,
    mass: Any,
    eps: Any = ...,
    targets: Optional[Any] = ...,
    *,
    vel: None = ...,
    target_vel: None = ...,
    target_eps: Optional[Any] = ...,
    accuracy: Optional[float] = ...,
    method: Optional[str] = ...,
    degree: Optional[int] = ...,
    theta: float,
    group_size: Optional[int] = ...,
    leaf_size: Optional[int] = ...,
    samples: Optional[int] = ...,
    calls: Optional[int] = ...,
    earlier: Optional[TreeReport] = ...,
    acc: Optional[Floats] = ...,
    jerk: None = ...,
    pot: Optional[Floats] = ...,
    dtype: Optional[Any] = ...,
    device: Optional[DeviceLike] = ...,
) -> TreeGravity: ...


@overload
def gravity(
    pos: Any,
    mass: Any,
    eps: Any = ...,
    targets: Optional[Any] = ...,
    *,
    vel: None = ...,
    target_vel: None = ...,
    target_eps: Optional[Any] = ...,
    accuracy: Optional[float] = ...,
    method: Optional[str] = ...,
    degree: Optional[int] = ...,
    theta: Optional[float] = ...,
    group_size: Optional[int] = ...,
    leaf_size: Optional[int] = ...,
    samples: Optional[int] = ...,
    calls: Optional[int] = ...,
    earlier: Optional[TreeReport] = ...,
    acc: Optional[Floats] = ...,
    jerk: None = ...,
    pot: Optional[Floats] = ...,
    dtype: Optional[Any] = ...,
    device: Optional[DeviceLike] = ...,
) -> Gravity: ...


@overload
def gravity(
    pos: Any,
    mass: Any,
    eps: Any = ...,
    targets: Optional[Any] = ...,
    *,
    vel: Union[AnyArray, Sequence[Any]],
    target_vel: Optional[Any] = ...,
    target_eps: Optional[Any] = ...,
    accuracy: float,
    method: Optional[str] = ...,
    degree: Optional[int] = ...,
    theta: Optional[float] = ...,
    group_size: Optional[int] = ...,
    leaf_size: Optional[int] = ...,
    samples: Optional[int] = ...,
    calls: Optional[int] = ...,
    earlier: Optional[TreeReport] = ...,
    acc: Optional[Floats] = ...,
    jerk: Optional[Floats] = ...,
    pot: Optional[Floats] = ...,
    dtype: Optional[Any] = ...,
    device: Optional[DeviceLike] = ...,
) -> TreeGravityJerk: ...


@overload
def gravity(
    pos: Any,
    mass: Any,
    eps: Any = ...,
    targets: Optional[Any] = ...,
    *,
    vel: Union[AnyArray, Sequence[Any]],
    target_vel: Optional[Any] = ...,
    target_eps: Optional[Any] = ...,
    accuracy: Optional[float] = ...,
    method: Optional[str] = ...,
    degree: Optional[int] = ...,
    theta: Optional[float] = ...,
    group_size: Optional[int] = ...,
    leaf_size: Optional[int] = ...,
    samples: Optional[int] = ...,
    calls: Optional[int] = ...,
    earlier: Optional[TreeReport] = ...,
    acc: Optional[Floats] = ...,
    jerk: Optional[Floats] = ...,
    pot: Optional[Floats] = ...,
    dtype: Optional[Any] = ...,
    device: Optional[DeviceLike] = ...,
) -> GravityJerk: ...


def gravity(
    pos: Any,
    mass: Any,
    eps: Any = 0.0,
    targets: Optional[Any] = None,
    *,
    vel: Optional[Any] = None,
    target_vel: Optional[Any] = None,
    target_eps: Optional[Any] = None,
    accuracy: Optional[float] = None,
    method: Optional[str] = None,
    degree: Optional[int] = None,
    theta: Optional[float] = None,
    group_size: Optional[int] = None,
    leaf_size: Optional[int] = None,
    samples: Optional[int] = None,
    calls: Optional[int] = None,
    earlier: Optional[TreeReport] = None,
    acc: Optional[Floats] = None,
    jerk: Optional[Floats] = None,
    pot: Optional[Floats] = None,
    dtype: Optional[Any] = None,
    device: Optional[DeviceLike] = None,
) -> Union[Gravity, GravityJerk]:
    """Softened gravity of particles on each other, or at target positions; G = 1.

        acc, pot = gdr.gravity(pos, mass, eps=0.01)
        found = gdr.gravity(pos, mass, eps=0.01, accuracy=1e-3)  # with a tree, measured errors
        found.acc, found.tree.error

    ``acc_i = sum m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)``, ``pot_i = -sum m_j / sqrt(r^2 + eps^2)``

    Parameters: ``pos`` (n, 3) and ``mass`` (n,), or one number for all; the softening ``eps`` >= 0
    in the units of ``pos``, one number or (n,); ``targets`` (m, 3), target positions. ``acc`` and
    ``pot``: arrays to fill, float64 or float32 of shapes (n, 3) and (n,) (m instead of n with
    ``targets``); new arrays by default. C-contiguous float64 arrays are read and filled in place,
    others are copied. ``dtype``, float64 or float32, is the type of new arrays; those of other
    libraries than NumPy come back as such (docs/guides/python.md, "Arrays").

    Without ``targets`` a particle does not act on itself. With ``targets`` every pair counts, but a
    pair at distance zero without softening contributes nothing. Signs: ``acc`` points to the
    masses, ``pot`` is negative.

    With a softening length of each particle the square of that of a pair is the mean of both,
    ``eps_ij^2 = (eps_i^2 + eps_j^2) / 2``: forces are opposite and equal, and equal lengths are the
    same as one number. At ``targets`` it is ``eps_j`` of the source, or that mean with lengths
    ``target_eps`` (m,) of the targets.

    With velocities ``vel`` (n, 3), and ``target_vel`` (m, 3) of ``targets``, the result is a
    ``gdr.results.GravityJerk``, which has the time derivatives of the accelerations, too, in the
    array ``jerk`` if it is given. ``accuracy`` is that of accelerations; the errors of jerks, some
    times larger, are in ``tree.jerk_error``.

    Quantities of astropy: all arguments have units or none has (``eps=0`` may be a number);
    ``pos``, ``eps`` and ``targets`` may have different units of length. G is then that of
    ``astropy.constants``, and the results are quantities in m/s^2 and m^2/s^2; ``acc``, ``jerk``
    and ``pot`` cannot be filled.

    With ``accuracy``, the root mean square of the relative errors of accelerations (1e-3), a tree
    replaces distant clusters of particles by a few: O(n log n). The result is then a
    ``gdr.results.TreeGravity`` or ``gdr.results.TreeGravityJerk``, whose ``tree`` has the error that
    was measured on a sample of targets against direct sums (``tree.error``), and what was chosen.
    Few particles, and accuracies that no tree has, get direct sums. Instead of the choice by the
    accuracy: ``method`` "direct", "monopole", "multipole" or "expansion", its ``degree``, 2 to 6, or to
    16 for expansions, and ``theta``, the ratio of a cluster's radius and its distance, up to 0.95, with which
    ``accuracy`` is not used. ``group_size``: largest number of targets with a common list;
    ``leaf_size``: of particles in a cluster that is not divided; ``samples``: number of targets
    whose errors are measured (256, or 512 with expansions, and down to 128 for less than 80000
    targets whose method is chosen).

    For particles that have moved a little since an earlier call, ``earlier``, the ``tree`` of its
    result, has its method, degree and theta used again, which saves the choice, as long as the
    measured error is at most ``accuracy``; else a new choice is made. The choice may cost 5 %
    of what direct sums cost in ``calls`` such calls (1), up to 9 % if a tree is expected to save
    more than half of that, and, once an accurate tree is known, 5 % and 7 % of what it saves. A bar
    shows the progress of sums with a tree that take more than two seconds, on a terminal or in a
    notebook with tqdm.

    On a device "mpi" every rank passes its own particles, and all ranks get all particles for a
    tree.

    Raises TypeError or ValueError naming the argument, and InputError (a ValueError) if a result is
    not finite, naming the particle (the other results have been written), or if there are neither
    particles nor ``targets``.
    """
    chosen = device_or_default(device)
    with chosen._ranks.argument_checks():
        check_velocities(vel, target_vel, targets, jerk)
        if target_eps is not None and targets is None:
            raise TypeError("target_eps: is that of targets, and there are none; use eps")
        arguments = {"pos": pos, "mass": mass, "eps": eps}
        optional = {"targets": targets, "vel": vel, "target_vel": target_vel}
        optional["target_eps"] = target_eps
        arguments.update({name: value for name, value in optional.items() if value is not None})
        outputs = Outputs.of(dtype, any(a is not None for a in (acc, jerk, pot)), arguments)
        own = {"target_vel": "vel", "target_eps": "eps"}
        named = {n: (own.get(n, n), v) for n, v in arguments.items()}
        units = call_units("gravity", named, [("acc", acc), ("jerk", jerk), ("pot", pot)])
        if units is not None:
            arguments = {place: units.number(place, *value) for place, value in named.items()}
            pos, mass, eps = arguments["pos"], arguments["mass"], arguments["eps"]
            targets = arguments.get("targets")
        x = np.ascontiguousarray(floats("pos", pos, ("n", 3)))
        m = per_particle("mass", mass, len(x))
        inputs = {"pos": x, "mass": m}
        if targets is not None:
            inputs["targets"] = np.ascontiguousarray(floats("targets", targets, ("m", 3)))
        positions = inputs.get("targets", x)
        soft = softening(eps, arguments.get("target_eps"), len(x), len(positions), inputs)
        if vel is not None:
            inputs["vel"] = np.ascontiguousarray(floats("vel", arguments["vel"], x.shape))
        if target_vel is not None:
            v = floats("target_vel", arguments["target_vel"], positions.shape)
            inputs["target_vel"] = np.ascontiguousarray(v)
        filled = {"acc": outputs.array("acc", acc, positions.shape)}
        if vel is not None:
            filled["jerk"] = outputs.array("jerk", jerk, positions.shape)
        filled["pot"] = outputs.array("pot", pot, (len(positions),))
        outputs.check_no_overlap(inputs)
        chosen_by = {"accuracy": accuracy, "method": method, "degree": degree, "theta": theta}
        sizes = {"group_size": group_size, "leaf_size": leaf_size, "samples": samples}
        sizes["calls"] = calls
        tree, bar = tree_options(chosen_by, sizes, earlier)
    chosen._ranks.check_equal("units", "" if units is None else units.key())
    report = None
    try:
        at, a, p = inputs.get("targets"), filled["acc"], filled["pot"]
        if vel is not None:
            moving = chosen._cached(_core.GravityJerk)
            v, vi = inputs["vel"], inputs.get("target_vel")
            fields = moving.compute(x, v, m, soft, at, vi, a, filled["jerk"], p, tree)
        elif tree is None:
            chosen._cached(_core.Gravity).compute(x, m, soft, at, a, p)
        else:
            fields = chosen._cached(_core.Gravity).compute_with_tree(x, m, soft, at, a, p, tree)
        if tree is not None:
            report = TreeReport(**fields)
    except InputError as error:
        outputs.finished(filled)
        try:
            for name, array in inputs.items():
                check_finite(name, array)
        except ValueError as cause:
            raise mark_collective(cause, error) from None
        raise
    finally:
        if bar is not None:
            bar.close()
    values = outputs.finished(filled)
    if units is not None:
        values = {name: units.result(name, array) for name, array in values.items()}
    if vel is not None:
        return GravityJerk(**values) if report is None else TreeGravityJerk(**values, tree=report)
    return Gravity(**values) if report is None else TreeGravity(**values, tree=report)


def softening(
    eps: Any, target_eps: Optional[Any], n: int, m: int, inputs: Dict[str, Floats]
) -> _core.Softening:
    """One length, or one for each of n sources, and of m targets if they are given; arrays are
    added to the inputs."""
    if target_eps is None and as_array("eps", eps).ndim == 0:
        return _core.Softening(number("eps", eps), None, None)
    inputs["eps"] = per_particle("eps", eps, n)
    if target_eps is not None:
        inputs["target_eps"] = per_particle("target_eps", target_eps, m)
    return _core.Softening(0.0, inputs["eps"], inputs.get("target_eps"))


def check_velocities(vel: Any, target_vel: Any, targets: Any, jerk: Any) -> None:
    """Raise TypeError for velocities without what they need."""
    if target_vel is not None and targets is None:
        raise TypeError("target_vel: is that of targets, and there are none; use vel")
    if vel is None and target_vel is not None:
        raise TypeError("vel: the velocities of the sources are missing, target_vel is given")
    if vel is not None and targets is not None and target_vel is None:
        raise TypeError("target_vel: the velocities of the targets are missing, vel is given")
    if vel is None and jerk is not None:
        raise TypeError("jerk: needs velocities; pass vel")


def checked_accuracy(accuracy: Optional[float]) -> Optional[float]:
    """The accuracy of a tree; None if it is not given."""
    wanted = None if accuracy is None else number("accuracy", accuracy)
    if wanted is not None and not 0 < wanted < 1:
        raise ValueError(f"accuracy: expected above 0 and below 1, got {wanted}")
    return wanted


def tree_options(
    chosen_by: Mapping[str, Any],
    sizes: Mapping[str, Optional[int]],
    earlier: Optional[TreeReport],
) -> Tuple[Optional[_core.TreeOptions], Optional[Bar]]:
    """The options of a tree, with the bar that they show; None if nothing of them is given."""
    if all(v is None for v in (*chosen_by.values(), *sizes.values(), earlier)):
        return None, None
    accuracy, method, degree, theta = chosen_by.values()
    if earlier is not None:
        if not isinstance(earlier, TreeReport):
            kind = type(earlier).__name__
            raise TypeError(f"earlier: expected the tree of an earlier result, got {kind}")
        for name in ("method", "degree", "theta"):
            if chosen_by[name] is not None:
                raise TypeError(f"{name}: earlier has one; leave out one of the two")
    wanted = checked_accuracy(accuracy) or 1e-3
    kind = "auto" if method is None else method
    if kind not in _core.tree_methods:
        raise ValueError(f"method: expected one of {', '.join(_core.tree_methods)}, got {kind!r}")
    most = 16 if kind == "expansion" else 6
    if degree is not None and not 2 <= operator.index(degree) <= most:
        raise ValueError(f"degree: expected 2 to {most}, got {degree}")
    if degree is not None and kind in ("direct", "monopole"):
        raise ValueError(f"degree: method {kind!r} has none; leave it out, or use 'multipole'")
    ratio = 0.0 if theta is None else number("theta", theta)
    if theta is not None and not 0 < ratio <= 0.95:
        raise ValueError(f"theta: expected above 0 and at most 0.95, got {ratio}")
    for name, size in sizes.items():
        if size is not None and operator.index(size) < 1:
            raise ValueError(f"{name}: expected at least 1, got {size}")
    names = ("group_size", "leaf_size", "samples", "calls")
    groups, leaves, samples, calls = (operator.index(sizes.get(name) or 0) for name in names)
    before = None
    if earlier is not None:
        before = (_core.tree_methods.index(earlier.method), earlier.degree, earlier.theta)
    index = _core.tree_methods.index(kind)
    bar = Bar("gravity", FIRST_SECONDS)
    options = _core.TreeOptions(
        wanted, index, degree or 0, ratio, groups, leaves, samples, calls or 1, before, bar
    )
    return options, bar
