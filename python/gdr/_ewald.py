"""Ewald sums of point charges in a periodic box."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _core
from ._arrays import check_finite, floats, number
from ._box import periodic_box
from ._forces import per_particle
from ._open import DeviceLike, device_or_default
from ._outputs import Outputs, arrays_to_fill
from .results import EwaldSum


def ewald(
    pos: Any,
    charge: Any,
    box: Any,
    *,
    accuracy: float = 1e-5,
    alpha: Optional[float] = None,
    cutoff: Optional[float] = None,
    wave_cutoff: Optional[float] = None,
    out: Optional[Any] = None,
    dtype: Optional[Any] = None,
    device: Optional[DeviceLike] = None,
) -> EwaldSum:
    """Energies, forces and virial of point charges in a periodic box, with all their images.

        found = gdr.ewald(pos, charge, box=(4, 4, 4))
        found.energy, found.force

    ``E = 1/2 sum over i, j, images of q_i q_j / |x_i - x_j + image|``

    in Gaussian units (1 / (4 pi epsilon_0) = 1), no charge with itself, with a conductor around the
    crystal ("tinfoil"). A box with a total charge has a uniform background that neutralises it,
    whose energy is in the sum.

    Parameters: ``pos`` (n, 3), also outside of the box; ``charge`` (n,), or one number for all;
    ``box``: three lengths, or one for a cube, or three vectors as the rows of (3, 3). ``accuracy``:
    root mean square of the errors of forces relative to the force of two charges of the mean square at the mean
    distance, and of the particles' energies relative to that of this pair, by the estimates of
    Kolafa and Perram (1992) for disordered charges; those of crystals may be several times larger.
    The sum is divided into a part in real space, within a ``cutoff``, and one over wave vectors up
    to ``wave_cutoff``, by a splitting parameter ``alpha``, an inverse length; what is not given is
    chosen for the accuracy and the least time, O(n^1.5).

    Devices compute in longs or doubles, with errors below 1e-11; engines among floats have some
    1e-6, whatever the accuracy asked for.

    ``out``: a dictionary with arrays to fill for ``energies``, ``force`` or ``virial``, or an
    earlier result. ``dtype``: float64 or float32, the type of new arrays.

    Returns a ``gdr.results.EwaldSum``: ``energy`` of the box, ``energies`` (n,), ``force`` (n, 3),
    ``virial`` (3, 3), whose trace is the energy, and how it was computed.

    On a device "mpi" every rank passes its own charges, and gets their forces and energies, and the
    energy and virial of all charges.

    Raises TypeError or ValueError naming the argument, and InputError (a ValueError) for charges at
    the same place, a box without volume, and more than 1e8 wave vectors.
    """
    chosen = device_or_default(device)
    with chosen._ranks.argument_checks():
        given = arrays_to_fill(out, ("energies", "force", "virial"))
        outputs = Outputs.of(dtype, bool(given), {"pos": pos, "charge": charge})
        x = np.ascontiguousarray(floats("pos", pos, ("n", 3)))
        check_finite("pos", x)
        q = per_particle("charge", charge, len(x))
        check_finite("charge", q)
        if box is None:
            raise TypeError("box: expected three lengths or three vectors, got None")
        edges = periodic_box(box, True)
        wanted = number("accuracy", accuracy)
        if not 0 < wanted < 1:
            raise ValueError(f"accuracy: expected above 0 and below 1, got {wanted}")
        options = [
            wanted,
            _positive("alpha", alpha),
            _positive("cutoff", cutoff),
            _positive("wave_cutoff", wave_cutoff),
        ]
        shapes = {"energies": (len(x),), "force": x.shape, "virial": (3, 3)}
        filled = {name: outputs.array(name, given.get(name), s) for name, s in shapes.items()}
        outputs.check_no_overlap({"pos": x, "charge": q})
    core = chosen._cached(_core.Ewald)
    energy, virial, a, r, k, waves, error = core.run(
        x, q, edges, options, filled["force"], filled["energies"]
    )
    filled["virial"][...] = np.array(virial).reshape(3, 3)
    found = outputs.finished(filled)
    energies, force, w = found["energies"], found["force"], found["virial"]
    return EwaldSum(energy, energies, force, w, a, r, k, waves, error)


def _positive(name: str, value: Optional[float]) -> float:
    """A positive number, or 0 for None."""
    if value is None:
        return 0.0
    given = number(name, value)
    if given <= 0:
        raise ValueError(f"{name}: expected a positive number, got {given}")
    return given
