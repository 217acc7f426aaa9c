"""What the attributes and parameters of a kernel's function hold, which its text declares with ``as``.

Sums within a cut-off and trees need to know the positions, ``gdr force`` all inputs. A Python
function has no declarations: attributes with these names hold these quantities, others if the
decorator declares it. docs/guides/python.md has the rule for users.
"""

from __future__ import annotations

import re
from typing import Dict, Mapping

#: Vectors of three components.
_VECTORS = {"x": "pos", "v": "vel"}
#: Components, which are numbers and are read all three.
_COMPONENTS = {"pos": ("x", "y", "z"), "vel": ("vx", "vy", "vz"), "acc": ("ax", "ay", "az")}
#: Single values by their type.
_SINGLE = {"number": {"m": "mass"}, "int": {"id": "id", "slot": "index"}}
#: Parameters, which are numbers.
_PARAMETERS = {"eps": "eps", "eps2": "eps^2"}

#: Default values of ids of targets and sources, which exclude no pair.
_DEFAULT_IDS = {"VARI": -1, "VARJ": -2}


def checked(quantities: Mapping[str, str]) -> Dict[str, str]:
    """The decorator's argument. Raises ValueError for what the kernel language does not take."""
    for name, quantity in quantities.items():
        if not isinstance(quantity, str) or not re.fullmatch(r"[A-Za-z_]\w*(\^2)?", quantity):
            raise ValueError(
                f"quantities: {name!r}: expected the name of a quantity, as 'pos', 'mass' or "
                f"'eps^2', got {quantity!r}"
            )
    return dict(quantities)


def endings(
    keyword: str, kinds: Mapping[str, str], given: Mapping[str, str]
) -> Dict[str, str]:
    """What the declarations of these names end with: ``" as pos"``, ``" = -1 as id"``, or nothing.

    ``kinds``: for each attribute of a particle, or parameter, "number", "int" or its shape.
    ``given``: the decorator's argument; a quantity there is held by nothing else. In the order of
    ``kinds``, except that the components of a quantity follow each other."""
    own = {name: quantity for name, quantity in given.items() if name in kinds}
    usual = _usual_parameters(kinds) if keyword == "CONST" else _usual_attributes(kinds)
    taken = set(own.values())
    held = {name: q for name, q in usual.items() if name not in own and q not in taken}
    held.update(own)
    found: Dict[str, str] = {}
    for name in kinds:
        quantity = held.get(name)
        for component in [n for n in held if held[n] == quantity] or [name]:
            is_id = quantity == "id" and kinds[component] == "int" and keyword in _DEFAULT_IDS
            default = f" = {_DEFAULT_IDS[keyword]}" if is_id else ""
            found[component] = f"{default} as {quantity}" if quantity else ""
    return found


def _usual_parameters(kinds: Mapping[str, str]) -> Dict[str, str]:
    return {name: q for name, q in _PARAMETERS.items() if kinds.get(name) == "number"}


def _usual_attributes(kinds: Mapping[str, str]) -> Dict[str, str]:
    found = {name: q for name, q in _VECTORS.items() if kinds.get(name) == "vec3"}
    for quantity, components in _COMPONENTS.items():
        if all(kinds.get(name) == "number" for name in components):
            found.update(dict.fromkeys(components, quantity))
    for kind, names in _SINGLE.items():
        found.update((name, q) for name, q in names.items() if kinds.get(name) == kind)
    return found
