"""Units: quantities of astropy in functions of the library's kernels, refused everywhere else.

Nothing here imports astropy: without it no argument is one of its quantities.
"""

from __future__ import annotations

import math
import re
import sys
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

#: Methods that convert the unit: of astropy and unyt, columns of astropy's tables, AMUSE, pynbody,
#: and pint.
_CONVERSIONS = ("to_value", "convert_unit_to", "value_in", "in_units", "to_base_units")


def unit_of(value: Any) -> Optional[str]:
    """The unit of a quantity of astropy, unyt, pint, AMUSE or pynbody, as text; None for numbers,
    and for quantities without dimension whose value is the number."""
    if isinstance(value, (int, float, str)) or type(value) is np.ndarray:
        return None
    if isinstance(value, (list, tuple)):
        for element in value:
            if type(element) is float:  # most elements of long lists
                continue
            unit = unit_of(element)
            if unit is not None:
                return str(unit)
        return None
    for name in ("unit", "units"):
        unit = getattr(value, name, None)
        if unit is None or type(unit).__name__ == "NoUnit":
            continue
        if not any(callable(getattr(value, method, None)) for method in _CONVERSIONS):
            continue
        text = str(unit)
        return None if text in ("", "dimensionless") else text
    return None


def refuse_masked(name: str, value: Any) -> None:
    """Raise ValueError if an element of an array of NumPy or astropy, or of a list, is masked."""
    if isinstance(value, (int, float, str)) or type(value) is np.ndarray:
        return
    if isinstance(value, (list, tuple)):
        for k, element in enumerate(value):
            if type(element) is not float:
                refuse_masked(f"{name}[{k}]", element)
        return
    if not (isinstance(value, np.ma.MaskedArray) or hasattr(value, "unmasked")):
        return
    mask = np.asarray(value.mask)
    if mask.any():
        place = ", ".join(str(i) for i in np.argwhere(mask)[0]) if mask.ndim else ""
        element = f"{name}[{place}]" if place else name
        raise ValueError(f"{element} is masked; fill in a value or remove the element")


def refuse_units(name: str, value: Any) -> None:
    """Raise TypeError for a quantity where numbers are expected, ValueError for a masked element."""
    refuse_masked(name, value)
    unit = unit_of(value)
    if unit is not None:
        raise TypeError(
            f"{name}: has the unit {unit}, but numbers are expected here: convert it to the unit "
            "of your choice, as q.to_value(unit) of an astropy quantity"
        )


class _Law(NamedTuple):
    """Dimensions of the arguments and results of a kernel, as products of powers of the units L
    (length), M (mass), T (time), E (energy) and Q (charge): "L^2 T^-2"; "" for a number. ``*`` is
    any unit. ``constant`` is G or k of Coulomb's law, which the kernel has as 1."""

    arguments: Mapping[str, str]
    results: Mapping[str, str]
    constant: str = ""


_GRAVITY = _Law(
    {
        **{"pos": "L", "targets": "L", "mass": "M", "vel": "L T^-1", "acc": "L T^-2", "eps": "L"},
        **{"radius": "L", "dt": "T", "cinv2": "L^-2 T^2", "t": "T", "time": "T"},
        **{f"a2{c}": "L T^-2" for c in "xyz"},
        **{f"j6{c}": "L T^-3" for c in "xyz"},
        **{f"s18{c}": "L T^-4" for c in "xyz"},
    },
    {
        **{"acc": "L T^-2", "pn": "L T^-2", "jerk": "L T^-3", "snap": "L T^-4"},
        **{"pot": "L^2 T^-2", "rnear2": "L^2"},
    },
    "G",
)
_ENERGIES = {"force": "E L^-1", "u": "E", "virial": "E"}
_COULOMB = {"field": "Q L^-2", "pot": "Q L^-1"}
_LAWS = {
    "lennard_jones_mixed": _Law(
        {"pos": "L", "sigma": "L", "root_epsilon": "E^0.5", "rc": "L"}, _ENERGIES
    ),
    "morse": _Law({"pos": "L", "depth": "E", "steep": "L^-1", "r0": "L", "rc": "L"}, _ENERGIES),
    "buckingham": _Law({"pos": "L", "a": "E", "b": "L^-1", "c": "E L^6", "rc": "L"}, _ENERGIES),
    "coulomb": _Law({"pos": "L", "charge": "Q"}, _COULOMB, "k"),
    "coulomb_ewald": _Law({"pos": "L", "charge": "Q", "alpha": "L^-1", "rc": "L"}, _COULOMB, "k"),
    "gauss_sum": _Law({"pos": "L", "charge": "*", "gamma": "L^-2"}, {"s": "*"}),
    "sph_density": _Law({"pos": "L", "mass": "M", "h": "L"}, {"rho": "M L^-3"}),
    "sph_force": _Law(
        {
            **{"pos": "L", "mass": "M", "vel": "L T^-1", "h": "L", "sound": "L T^-1"},
            **{"rho": "M L^-3", "p": "L^5 M^-1 T^-2", "alpha": "", "beta": "", "eta": ""},
        },
        {"acc": "L T^-2", "dudt": "L^2 T^-3", "mumax": "L T^-1"},
    ),
}
#: SI unit and name of a base unit.
_BASES = {
    "L": ("m", "a length"),
    "M": ("kg", "a mass"),
    "T": ("s", "a time"),
    "E": ("J", "an energy"),
    "Q": ("C", "an electric charge"),
}
#: Arguments that give a base unit, and their dimensions.
_SOURCES = (("pos", "L"), ("mass", "M"), ("charge", "Q"), ("depth", "E"), ("a", "E"))
_DETERMINE_UNITS = {"vel", "root_epsilon", *(name for name, _ in _SOURCES)}


def _powers(dimension: str) -> List[Tuple[str, float]]:
    found = re.findall(r"([LMTEQ])(?:\^(-?[\d.]+))?", dimension)
    return [(base, float(power or 1)) for base, power in found]


def _law(kernel: str) -> Optional[_Law]:
    return _GRAVITY if kernel.startswith("gravity") else _LAWS.get(kernel)


def _quantity(name: str, value: Any) -> Any:
    """The argument as a quantity of astropy, None for numbers; TypeError for other quantities."""
    unit = unit_of(value)
    if unit is None:
        return None
    refuse_masked(name, value)
    units = sys.modules.get("astropy.units")
    if units is not None:
        found = None
        if isinstance(value, units.Quantity):
            found = value
        elif isinstance(value, (list, tuple)):
            found = _list_quantity(name, value, units)
        elif hasattr(value, "quantity"):
            found = units.Quantity(value)  # of the column of a table
        if found is not None:
            if hasattr(found.unit, "physical_unit"):
                raise TypeError(
                    f"{name}: the logarithmic unit {found.unit} is not supported: pass q.physical, "
                    "the quantity in a linear unit"
                )
            return found
    kind = type(value)
    raise TypeError(
        f"{name}: quantities of {kind.__module__.split('.')[0]} ({unit}) are not supported: pass "
        "numbers, or quantities of astropy"
    )


def _list_quantity(name: str, value: Any, units: Any) -> Any:
    """A list of quantities, or of lists of them, as one quantity."""

    def joined(part: Any) -> Any:
        if isinstance(part, (list, tuple)):
            return units.Quantity([joined(element) for element in part])
        return part

    def leaves(part: Any) -> Iterable[Any]:
        for element in part:
            if isinstance(element, (list, tuple)):
                yield from leaves(element)
            else:
                yield element

    try:
        return joined(value)
    except (TypeError, ValueError) as error:
        found = [unit_of(element) for element in leaves(value)]
        if None in found:
            raise TypeError(f"{name}: numbers and units are mixed ({error})") from None
        kinds = ", ".join(dict.fromkeys(str(unit) for unit in found))
        raise TypeError(
            f"{name}: a list of quantities in {kinds} is no array of one unit ({error})"
        ) from None


class Units:
    """The units of one call of a kernel's function, from ``call_units``."""

    def __init__(self, law: _Law, quantities: Mapping[str, Any]) -> None:
        self._law = law
        self._units: Any = sys.modules["astropy.units"]
        self._base: Dict[str, Any] = {}
        for name, base in _SOURCES:
            if law.arguments.get(name) == base and name in quantities:
                self._base[base] = self._checked(name, quantities[name].unit, base)
        if "root_epsilon" in quantities:
            unit = quantities["root_epsilon"].unit ** 2
            self._base["E"] = self._checked("root_epsilon", unit, "E", " to the power 1/2")
        if law.arguments.get("charge") == "*" and "charge" in quantities:
            self._base["*"] = quantities["charge"].unit
        speed = None
        if "vel" in quantities:
            speed = quantities["vel"].unit
            if not speed.is_equivalent(self._units.m / self._units.s):
                raise TypeError(f"vel: expected a velocity, got the unit {speed}")
        self._results = {"L": self._base["L"], "T": self._units.s}
        if speed is not None:
            self._results["T"] = self._base["T"] = self._base["L"] / speed
        elif law.constant == "G":
            self._results["L"] = self._units.m
        if law.constant == "G":  # the time unit with G = 1
            constants = _constants()
            g = self._units.Unit(constants.G)
            self._base["T"] = (self._base["L"] ** 3 / (g * self._base["M"])) ** 0.5

    def _checked(self, name: str, unit: Any, base: str, power: str = "") -> Any:
        si, what = _BASES[base]
        accepted = [self._units.Unit(si)]
        if base == "E":
            accepted.append(self._units.Unit("J / mol"))
        if not any(unit.is_equivalent(one) for one in accepted):
            raise TypeError(
                f"{name}: expected {what}{power}, got the unit {unit ** (0.5 if power else 1)}"
            )
        return unit

    def _unit(self, dimension: str, bases: Mapping[str, Any]) -> Any:
        if dimension == "*":
            return bases.get("*", self._units.dimensionless_unscaled)
        unit = self._units.dimensionless_unscaled
        for base, power in _powers(dimension):
            unit = unit * bases[base] ** power
        return unit

    def number(self, place: str, argument: str, value: Any) -> Any:
        """The argument in the units of the call; TypeError for a wrong dimension."""
        unit = self._unit(self._law.arguments[argument], self._base)
        quantity = _quantity(place, value)
        if quantity is None:
            return value
        try:
            return quantity.to_value(unit)
        except self._units.UnitsError:
            raise TypeError(
                f"{place}: expected a unit of the kind {self._example(argument)}, got "
                f"{quantity.unit}"
            ) from None

    def _example(self, argument: str) -> str:
        """The kind of an argument, in SI units."""
        si = {base: self._units.Unit(one) for base, (one, _) in _BASES.items()}
        text = str(self._unit(self._law.arguments[argument], si))
        return text or "of a number"

    def result(self, field: str, array: Any) -> Any:
        """A result as a quantity; results without dimension, such as ids, are unchanged."""
        dimension = self._law.results.get(field)
        if dimension is None or (dimension == "*" and "*" not in self._base):
            return array
        unit = self._unit(dimension, self._base)
        if self._law.constant == "k":
            constants = _constants()
            unit = self._units.Unit(1 / (4 * math.pi * constants.eps0)) * unit
            wanted = self._units.Unit("V / m" if field == "field" else "V")
        else:
            wanted = self._unit(dimension, {**self._base, **self._results})
        array *= unit.to(wanted)
        return self._units.Quantity(array, wanted, copy=False)

    def key(self) -> str:
        """The units as text: equal on ranks that pass the same units."""
        return " ".join(f"{base}={unit}" for base, unit in sorted(self._base.items()))


def _constants() -> Any:
    import astropy.constants

    return astropy.constants


def call_units(
    kernel: str, arguments: Mapping[str, Tuple[str, Any]], outputs: Iterable[Tuple[str, Any]] = ()
) -> Optional[Units]:
    """The units of a call, or None if all arguments are numbers.

    ``arguments`` maps each place, the name in messages, to the argument's name and value;
    ``outputs`` are arrays to fill. Raises TypeError naming the argument: if the kernel does not
    support units, if quantities and numbers are mixed, and for a wrong dimension.
    """
    found = {place: _quantity(place, value) for place, (_, value) in arguments.items()}
    for place, array in outputs:
        refuse_units(place, array)
    first = next((place for place, quantity in found.items() if quantity is not None), None)
    if first is None:
        return None
    law = _law(kernel)
    if law is None:
        raise TypeError(
            f"{first}: gdr.{kernel} has reduced units and takes no quantities: pass numbers in "
            "them (docs/reference/kernels.md)"
        )
    bare = [
        place
        for place, (name, value) in arguments.items()
        if found[place] is None
        and law.arguments[name] not in ("", "*")
        and not _is_zero(name, value)
    ]
    if bare:
        raise TypeError(
            f"{bare[0]}: is a number without a unit, but {first} has one ({found[first].unit}): "
            "pass quantities for all arguments, or for none"
        )
    given = [place for place, array in outputs if array is not None]
    if given:
        raise TypeError(f"{given[0]}: arrays to fill are not supported with quantities")
    own = {name: found[place] for place, (name, _) in arguments.items() if place == name}
    return Units(law, {name: quantity for name, quantity in own.items() if quantity is not None})


def _is_zero(name: str, value: Any) -> bool:
    """Whether an argument is the number 0, the same in every unit that others determine."""
    return name not in _DETERMINE_UNITS and isinstance(value, (int, float)) and value == 0
