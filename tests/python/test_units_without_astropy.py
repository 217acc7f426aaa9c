"""Units without astropy: other packages' quantities are refused, and numbers do not import it."""

import subprocess
import sys

import numpy as np
import pytest

import gdr
from gdr import linalg


@pytest.mark.parametrize("name", gdr.builtin_names())
def test_every_argument_of_a_kernel_with_units_has_a_dimension(name):
    law, function = gdr._units._law(name), gdr.ParticleKernel(name)
    if law is None:
        assert name == "lennard_jones"  # reduced units
        return
    arguments = {*function._arguments("source"), *function._arguments("target")}
    assert arguments | set(function._parameters) <= set(law.arguments)
    without = {"near", "near_list", "nearest"}
    assert set(function._results) - without <= set(law.results)
    assert not without & set(law.results)


class Pint:
    """A stand-in with the attributes of pint's quantities."""

    def __init__(self, value, unit):
        self.magnitude, self.units = np.asarray(value, float), unit

    def to_base_units(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.magnitude, dtype)


def test_quantities_of_other_packages_are_refused():
    with pytest.raises(TypeError, match=r"pos: quantities of .* \(kiloparsec\) are not supported"):
        gdr.gravity(Pint(np.eye(3), "kiloparsec"), 1.0)
    with pytest.raises(TypeError, match="a: has the unit meter"):
        linalg.solve(Pint(np.eye(3), "meter"), [1, 2, 3])
    assert gdr.gravity(Pint(np.eye(3), "dimensionless"), 1.0).acc.shape == (3, 3)


def test_quantities_of_pint_are_refused():
    pint = pytest.importorskip("pint", reason="the package pint is not installed")
    registry = pint.UnitRegistry()
    with pytest.raises(TypeError, match=r"pos: quantities of pint \(meter\) are not supported"):
        gdr.gravity(np.eye(3) * registry.meter, 1.0)
    with pytest.raises(TypeError, match="a: has the unit meter"):
        linalg.solve(np.eye(3) * registry.meter, [1, 2, 3])


def test_calls_with_numbers_do_not_import_astropy():
    program = (
        "import sys, gdr; gdr.gravity([[0, 0, 0], [1, 0, 0]], 1.0); print('astropy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
