"""The same loops over pairs in numba (fastmath), for bench/python_laws.py."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np


def loops_in_numba(real: Any, threads: int) -> Dict[str, Any]:
    """The laws as loops of numba with numbers of type `real`; empty if it is not installed."""
    try:
        import numba
    except ImportError:
        return {}
    jit = numba.njit(fastmath=True, parallel=threads > 1, error_model="numpy")
    # An integer or a literal beside a float32 would make it a float64.
    zero, one, two, four, of_force = (real(c) for c in (0, 1, 2, 4, 24))
    quarter, of_volume = real(0.25), real(1 / np.pi)

    @jit
    def lennard_jones(x, both, p, out):
        n = x.shape[1]
        for i in numba.prange(n):
            fx = fy = fz = u = v = zero
            for j in range(n):
                dx, dy, dz = x[0, j] - x[0, i], x[1, j] - x[1, i], x[2, j] - x[2, i]
                r2 = dx * dx + dy * dy + dz * dz
                if zero < r2 < p:
                    i2 = one / r2
                    i6 = i2 * i2 * i2
                    w = two * i6 * i6 - i6
                    f = of_force * w * i2
                    fx -= f * dx
                    fy -= f * dy
                    fz -= f * dz
                    u += four * (i6 * i6 - i6)
                    v += of_force * w
            out[0, i], out[1, i], out[2, i], out[3, i], out[4, i] = fx, fy, fz, u, v

    @jit
    def sph_density(x, both, p, out):
        n = x.shape[1]
        for i in numba.prange(n):
            rho = near = zero
            for j in range(n):
                dx, dy, dz = x[0, j] - x[0, i], x[1, j] - x[1, i], x[2, j] - x[2, i]
                hi = one / (both[n + i] + both[n + j])
                q = np.sqrt(dx * dx + dy * dy + dz * dz) * hi
                o, c = max(two - q, zero), max(one - q, zero)
                rho += both[j] * (hi * hi * hi) * (quarter * o * o * o - c * c * c)
                near += one if q < two else zero
            out[0, i], out[1, i] = rho * of_volume, near

    @jit
    def gauss_sum(x, both, p, out):
        n = x.shape[1]
        for i in numba.prange(n):
            s = zero
            for j in range(n):
                dx, dy, dz = x[0, j] - x[0, i], x[1, j] - x[1, i], x[2, j] - x[2, i]
                s += both[j] * np.exp(-p * (dx * dx + dy * dy + dz * dz))
            out[0, i] = s

    @jit
    def yukawa(x, both, p, out):
        n = x.shape[1]
        for i in numba.prange(n):
            s = zero
            for j in range(n):
                dx, dy, dz = x[0, j] - x[0, i], x[1, j] - x[1, i], x[2, j] - x[2, i]
                r2 = dx * dx + dy * dy + dz * dz
                if r2 > zero:
                    r = np.sqrt(r2)
                    s += both[j] * np.exp(-p * r) / r
            out[0, i] = s

    return {f.__name__: f for f in (lennard_jones, sph_density, gauss_sum, yukawa)}
