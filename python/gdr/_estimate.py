"""The time that a calculation will take, before it is done: ``gdr.estimate``."""

from __future__ import annotations

from typing import Optional, Union

from . import _core
from ._arrays import check_type, integer, number
from ._interface import param_numbers
from ._kernel import Kernel, builtin
from ._open import DeviceLike, device_or_default
from ._search import prepared
from .results import Estimate

_LARGEST_COUNT = 1 << 40


def estimate(
    kernel: Union[Kernel, str],
    targets: int,
    sources: Optional[int] = None,
    *,
    accuracy: Optional[float] = None,
    device: Optional[DeviceLike] = None,
    **params: float,
) -> Estimate:
    """The time that a call of a kernel, or of ``gdr.gravity``, will take on this host.

        print(gdr.estimate("gravity", 1_000_000))                  # about 5.4 min (4.3 min to 6.9 min)
        print(gdr.estimate("gravity", 1_000_000, accuracy=1e-3))   # about 4.7 s (2.3 s to 9.4 s), with a tree

    ``kernel``: a ``gdr.Kernel`` or the name of a built-in one; ``targets`` and ``sources``: their
    numbers (the same number by default); ``accuracy``: that of a tree, as in ``gdr.gravity`` and
    ``gdr.TreeSum``, or None for direct sums; ``params``: values of the kernel's params, if the
    number of pairs that it skips depends on them (1 by default).

    The estimate comes from runs of this kernel on this device with random numbers, which take
    about 0.2 s, or 0.8 s with a tree, and are kept in the process for a minute; the device's
    statistics count them. ``low`` and ``high`` are bounds while the host is as busy as now. They
    hold the spread of the measured times and allow for what short runs do not show: 15 % less and
    25 % more, or a factor of 2 with a tree, whose times depend on where the particles are. A kernel
    that skips pairs, by a cut-off, takes less than its estimate.

    Raises UnsupportedError for a device of several ranks, and with an accuracy for a kernel
    without charges (``gdr.TreeSum``).

    Examples:
        >>> found = gdr.estimate("gravity", 100)
        >>> 0 < found.low <= found.seconds <= found.high, found.pairs, found.tree
        (True, 10000.0, False)
    """
    if isinstance(kernel, str):
        kernel = builtin(kernel)
    check_type("kernel", kernel, Kernel, "a gdr.Kernel or the name of a built-in one")
    count = integer("targets", targets, 0, _LARGEST_COUNT)
    of_sources = count if sources is None else integer("sources", sources, 0, _LARGEST_COUNT)
    wanted = 0.0 if accuracy is None else number("accuracy", accuracy)
    if accuracy is not None and not 0 < wanted < 1:
        raise ValueError(f"accuracy: must be above 0 and below 1, got {wanted:g}")
    names = kernel._caller_names.params
    given = {names.get(name, name): value for name, value in params.items()}
    values = list(param_numbers(kernel, given).items())
    core: _core.Device = device_or_default(device)._core
    ready = kernel.core if wanted else prepared(core, kernel.core)
    return Estimate(*core.estimate(ready, count, of_sources, wanted, values))
