"""The energy of a pair of particles as a text, with parameters by species, as a kernel of sums.

A law is an expression of the kernel language in the distance ``r`` and its square ``r2``, perhaps
after statements that end with semicolons. Parameters are numbers, or tables with a value for each
pair of species, which the kernel reads at the species of both particles.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import (
    Any,
    Collection,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

import numpy as np

from ._arrays import Floats, check_type, choice, number
from ._kernel import Kernel, compile
from ._names import advice
from ._open import DeviceLike, device_or_default
from .errors import InputError

#: Values of a parameter by pairs of species, whose names are in alphabetical order.
Pairs = Dict[Tuple[str, str], float]

#: In front of a parameter's name in a kernel, where no other name begins with it.
_PARAMETER = "law_"


class PairLaw:
    """A law with its cut-off and parameters, checked.

    ``settings``: ``law``, ``cutoff``, ``shift``, ``onset`` and ``mixing`` as ``PairPotential`` of
    gdr.ase describes them. ``symbols``: the names of species that there may be.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        parameters: Mapping[str, Any],
        symbols: Collection[str],
        device: Optional[DeviceLike],
    ) -> None:
        check_type("law", settings["law"], str, "a text")
        check_type("shift", settings["shift"], (bool, np.bool_), "True or False")
        check_type("mixing", settings["mixing"], Mapping, "a dictionary")
        self._device = device
        self.cutoff = number("cutoff", settings["cutoff"], above=0)
        self._onset: Optional[float] = None
        if settings["onset"] is not None:
            self._onset = number("onset", settings["onset"], above=0)
            if self._onset >= self.cutoff:
                raise ValueError(
                    f"onset is {self._onset}; it must be below the cut-off, {self.cutoff}"
                )
            if settings["shift"]:
                raise ValueError("shift: an onset makes the energy 0 at the cut-off; leave one out")
        for name in parameters:
            if name in ("r", "r2", "pair_energy"):
                raise ValueError(f"{name}: this is no name of a parameter, but of the law")
        self._function = _function(settings["law"], list(parameters))
        unknown = [name for name in parameters if name not in words(settings["law"])]
        if unknown:
            known = [*_free_words(settings["law"]), *settings, "device"]
            raise TypeError(
                f"{', '.join(unknown)}: not in the law, and no other argument"
                + advice(unknown, known, [*parameters, "law", "cutoff"])
            )
        for name, rule in settings["mixing"].items():
            choice(f"mixing[{name!r}]", rule, ("arithmetic", "geometric"))
            if not isinstance(parameters.get(name), Mapping):
                raise ValueError(f"mixing: {name!r} is no parameter with values by species")
        values = {name: _value(name, given, symbols) for name, given in parameters.items()}
        tables = [table for table in values.values() if isinstance(table, dict)]
        #: Names of species in the order of the tables; none: all particles are alike.
        self.species = sorted({name for table in tables for pair in table for name in pair})
        self._values: Dict[str, Union[float, Floats]] = {
            name: _table(name, one, self.species, settings["mixing"].get(name))
            if isinstance(one, dict)
            else one
            for name, one in values.items()
        }
        #: The parameters, with numbers and texts only.
        self.parameters: Dict[str, Any] = {
            name: {_key(pair): v for pair, v in one.items()} if isinstance(one, dict) else one
            for name, one in values.items()
        }
        self._kernels: Dict[bool, Kernel] = {}
        self._shift = self._energies_at_cutoff() if settings["shift"] else 0.0

    def kernel(self, virial: bool) -> Kernel:
        """The kernel of forces and energies, and of virials -x_a F_b as symmetric tensors if
        wanted. Each of a pair's particles gets half of its energy and its virial."""
        if virial not in self._kernels:
            self._kernels[virial] = self._compiled(virial)
        return self._kernels[virial]

    def _compiled(self, virial: bool) -> Kernel:
        by_species = [name for name, value in self._values.items() if np.ndim(value)]
        shifted = bool(np.any(self._shift))
        size = len(self.species)
        constants = [f"{_PARAMETER}{name}[{size}][{size}]" for name in by_species]
        lines = ["precision long;"]
        if shifted and size:
            constants.append(f"pair_shift[{size}][{size}]")
        lines += [f"CONST table {text};" for text in constants]
        numbers = [_PARAMETER + name for name in self._values if name not in by_species]
        if shifted and not size:
            numbers.append("pair_shift")
        if self._onset:
            numbers += ["pair_onset2", "pair_end2"]
        lines += [f"CONST {text};" for text in numbers]
        lines.append(
            "VARI vec3 pair_xi as pos; VARJ vec3 pair_xj as pos; VARF vec3 force; VARF energy;"
        )
        if size:
            lines.append("VARI int pair_i; VARJ int pair_j;")
        at = "[pair_i][pair_j]"
        values = [f"{_PARAMETER}{name}{at if name in by_species else ''}" for name in self._values]
        lines += [
            self._function,
            "pair_d = pair_xi - pair_xj;",
            "r2 = norm2(pair_d);",
            "r = sqrt(r2);",
            f"u = pair_energy({', '.join(['r2', 'r', *values])});",
        ]
        if self._onset:
            lines += [
                "inside = pair_end2 - max(r2, pair_onset2);",
                "width = pair_end2 - pair_onset2;",
                "u = u*inside*inside*(3*width - 2*inside)/(width*width*width);",
            ]
        if shifted:
            lines.append(f"u = u - pair_shift{at if size else ''};")
        lines += ["f = -2*grad(u, r2);", "force += f*pair_d;", "energy += 0.5*u;"]
        if virial:
            lines += ["VARF sym3 virial;", "virial -= 0.5*f*outer(pair_d);"]
        return compile("\n".join(lines), name="pair_potential")

    def params(self) -> Dict[str, Any]:
        """The parameters of ``kernel``. Tables have 0 where no value was given."""
        values = {_PARAMETER + name: value for name, value in self._values.items()}
        if np.any(self._shift):
            values["pair_shift"] = self._shift
        found: Dict[str, Any] = {
            name: np.nan_to_num(v).ravel() if np.ndim(v) else v for name, v in values.items()
        }
        if self._onset:
            found.update(pair_onset2=self._onset**2, pair_end2=self.cutoff**2)
        return found

    def check(self, symbols: Sequence[str]) -> None:
        """InputError unless all pairs of these species have values."""
        for symbol in symbols:
            if symbol not in self.species:
                known = ", ".join(self.species)
                raise InputError(f"there are no parameters for {symbol}, only for {known}")
        rows = [self.species.index(symbol) for symbol in symbols]
        for name, value in self._values.items():
            if isinstance(value, float):
                continue
            for i, j in np.argwhere(np.isnan(value[np.ix_(rows, rows)]))[:1]:
                pair = f"{symbols[i]}-{symbols[j]}"
                raise InputError(
                    f"{name}: there is no value for {pair}; give one, or a rule in mixing"
                )

    def _energies_at_cutoff(self) -> Any:
        """The law at the cut-off: a number, or one for each pair of species that has parameters."""
        names = [_PARAMETER + name for name in self._values]
        columns = np.broadcast_arrays(*(np.asarray(v, float) for v in self._values.values()), 0.0)
        known = np.isfinite(np.array(columns)).all(axis=0)
        lines = [
            "precision long;",
            f"VARI {', '.join(['pair_r', *names])}; VARF u;",
            self._function,
            f"u += pair_energy({', '.join(['pair_r^2', 'pair_r', *names])});",
        ]
        kernel = compile("\n".join(lines), name="pair_energy")
        job = device_or_default(self._device).job(kernel)
        job.sources(1)
        job.targets(
            pair_r=np.full(known.sum(), self.cutoff),
            **{name: column[known] for name, column in zip(names, columns)},
        )
        energies = np.full(known.shape, np.nan)
        energies[known] = job.run().u
        if not np.isfinite(energies[known]).all():
            raise ValueError(f"shift: the law is not finite at the cut-off, {self.cutoff}")
        return energies if energies.ndim else float(energies)


def words(law: str) -> Set[str]:
    """The names in a law: those of parameters, temporaries and functions."""
    return {found.group() for found in _word(_plain(law))}


def _free_words(law: str) -> List[str]:
    """The names in a law that are to be parameters, as far as this is clear without a compiler."""
    text = _plain(law)
    names = {
        found.group()
        for found in _word(text)
        if not re.match(r"\s*(\(|[-+*/^]?=(?!=))", text[found.end() :])
    }
    assigned = set(re.findall(r"\b([A-Za-z_]\w*)\s*[-+*/^]?=(?!=)", text))
    return sorted(names - assigned - {"r", "r2", "if", "else"})


def _word(text: str) -> Iterator[re.Match[str]]:
    return re.finditer(r"(?<![\w.])[A-Za-z_]\w*", text)


def _plain(law: str) -> str:
    """The law without comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", law, flags=re.DOTALL)


def _function(law: str, names: Sequence[str]) -> str:
    """The law as a function of the kernel language, with the energy as its value."""
    text = _plain(law).rstrip("; \t\r\n")
    end = max(text.rfind(";"), text.rfind("}")) + 1
    if not text[end:].strip() or re.match(r"\s*\w+\s*[-+*]?=[^=]", text[end:]):
        raise ValueError(
            "law: it must end with an expression, the energy of a pair: 's = sigma/r; s^12 - s^6'"
        )
    head = f"function pair_energy({', '.join(['r2', 'r', *names])}) {{"
    return f"{head}\n{text[:end]}\nreturn {text[end:].strip()};\n}}"


def _key(pair: Tuple[str, str]) -> str:
    """A pair of species as the key of a dictionary: ``Ar``, ``Ar-Kr``."""
    return pair[0] if pair[0] == pair[1] else "-".join(pair)


def _value(name: str, given: Any, symbols: Collection[str]) -> Union[float, Pairs]:
    """A parameter's number, or its values by pairs of species."""
    if not isinstance(given, Mapping):
        return number(name, given)
    if not given:
        raise ValueError(f"{name}: the dictionary is empty; give values for species")
    found: Pairs = {}
    for key, one in given.items():
        parts = tuple(key.split("-")) if isinstance(key, str) else key
        if (
            not isinstance(parts, tuple)
            or len(parts) not in (1, 2)
            or not all(p in symbols for p in parts)
        ):
            raise ValueError(
                f"{name}: {key!r} is neither a species, 'Ar', nor a pair of them, 'Ar-Kr'"
            )
        value = number(f"{name}[{key!r}]", one)
        a, b = sorted((parts[0], parts[-1]))
        if found.setdefault((a, b), value) != value:
            raise ValueError(f"{name}: {a}-{b} has two values, {found[a, b]} and {value}")
    return found


def _table(name: str, values: Pairs, species: Sequence[str], rule: Optional[str]) -> Floats:
    """The values of all pairs of species, mixed where they are not given; NaN for no value."""
    table = np.full((len(species),) * 2, np.nan)
    for (i, a), (j, b) in itertools.product(enumerate(species), repeat=2):
        pair = (min(a, b), max(a, b))
        if pair in values:
            table[i, j] = values[pair]
        elif rule and (a, a) in values and (b, b) in values:
            one, other = values[a, a], values[b, b]
            if rule == "geometric" and one * other < 0:
                raise ValueError(f"{name}: {one} of {a} and {other} of {b} have no geometric mean")
            mean = 0.5 * (one + other)
            table[i, j] = (
                mean if rule == "arithmetic" else math.copysign(math.sqrt(one * other), mean)
            )
    return table
