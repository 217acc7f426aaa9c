"""Writes float_coefficients.hpp: polynomials for functions in floats.

Near-minimax approximations (Chebyshev), in order of rising powers. Run it with mpmath.
"""

from collections.abc import Callable
from pathlib import Path

from mpmath import asin, atan, chebyfit, erf, erfc, exp, expm1, log, mp, mpf, sin, sqrt, tan

mp.dps = 40


def series(f: Callable[[mpf], mpf], terms: Callable[[int], mpf], x: mpf) -> mpf:
    """f(x), or near 0, where it cancels, its power series."""
    if abs(x) > mpf("1e-3"):
        return f(x)
    return sum(terms(k) * x**k for k in range(8))


def factorial(n: int) -> mpf:
    return mpf(mp.factorial(n))


def exp_rest(x: mpf) -> mpf:
    """e^x = 1 + x + x^2 exp_rest(x)."""
    return series(lambda v: (expm1(v) - v) / v**2, lambda k: 1 / factorial(k + 2), x)


def sin_rest(z: mpf) -> mpf:
    """sin r = r + r z sin_rest(z) with z = r^2."""
    return series(
        lambda v: (sin(sqrt(v)) / sqrt(v) - 1) / v,
        lambda k: (-1) ** (k + 1) / factorial(2 * k + 3),
        z,
    )


def log_rest(f: mpf) -> mpf:
    """log(1 + f) = f + f^2 log_rest(f)."""
    return series(lambda v: (log(1 + v) - v) / v**2, lambda k: mpf((-1) ** (k + 1)) / (k + 2), f)


def log2_rest(z: mpf) -> mpf:
    """log2((1 + s) / (1 - s)) = s (2 / log 2 + z log2_rest(z)) with z = s^2."""

    def whole(v: mpf) -> mpf:
        s = sqrt(v)
        return (log((1 + s) / (1 - s)) / s - 2) / v

    return series(whole, lambda k: mpf(2) / (2 * k + 3), z) / log(2)


def exp2_rest(x: mpf) -> mpf:
    """2^x = 1 + x exp2_rest(x)."""
    a = log(2)
    return series(lambda v: expm1(v * a) / v, lambda k: a ** (k + 1) / factorial(k + 1), x)


def erf_factor(z: mpf) -> mpf:
    """erf x = x erf_factor(z) with z = x^2."""
    a = 2 / sqrt(mp.pi)
    return series(
        lambda v: erf(sqrt(v)) / sqrt(v),
        lambda k: a * (-1) ** k / factorial(k) / (2 * k + 1),
        z,
    )


def atan_rest(z: mpf) -> mpf:
    """atan t = t (1 + z atan_rest(z)) with z = t^2."""
    return series(
        lambda v: (atan(sqrt(v)) / sqrt(v) - 1) / v,
        lambda k: mpf((-1) ** (k + 1)) / (2 * k + 3),
        z,
    )


def asin_rest(z: mpf) -> mpf:
    """asin s = s (1 + z asin_rest(z)) with z = s^2."""
    return series(
        lambda v: (asin(sqrt(v)) / sqrt(v) - 1) / v,
        lambda k: mp.binomial(2 * k + 2, k + 1) / mpf(4) ** (k + 1) / (2 * k + 3),
        z,
    )


def tan_rest(z: mpf) -> mpf:
    """tan r = r (1 + z tan_rest(z)) with z = r^2."""
    terms = mp.taylor(tan, 0, 18)[3::2]
    return series(lambda v: (tan(sqrt(v)) / sqrt(v) - 1) / v, lambda k: terms[k], z)


def cbrt_rest(e: mpf) -> mpf:
    """(1 - e)^(-2/3) = 1 + e cbrt_rest(e)."""
    power = mpf(-2) / 3
    return series(
        lambda v: ((1 - v) ** power - 1) / v,
        lambda k: (-1) ** (k + 1) * mp.binomial(power, k + 1),
        e,
    )


STEP = mpf("0.328125")


def erfc_factor(t: mpf) -> mpf:
    """erfc x = e^(-x^2) t erfc_factor(t) with t = 1 / (1 + STEP x)."""
    x = (1 / t - 1) / STEP
    return erfc(x) * exp(x * x) / t


def centred(f: Callable[[mpf], mpf], at: mpf) -> Callable[[mpf], mpf]:
    return lambda u: f(u + at)


#: Name, function, interval, number of coefficients, comment.
TABLE = [
    ("exp_rest", exp_rest, -0.3467, 0.3467, 5, exp_rest.__doc__),
    ("sin_rest", sin_rest, 0, 2.4675, 5, sin_rest.__doc__),
    ("log_rest", log_rest, -0.29294, 0.41422, 9, log_rest.__doc__),
    ("log2_rest", log2_rest, 0, 0.02945, 4, log2_rest.__doc__),
    ("exp2_rest", exp2_rest, -0.501, 0.501, 6, exp2_rest.__doc__),
    ("atan_rest", atan_rest, 0, 1, 10, atan_rest.__doc__),
    ("asin_rest", asin_rest, 0, 0.2501, 6, asin_rest.__doc__),
    ("tan_rest", tan_rest, 0, 0.6173, 7, tan_rest.__doc__),
    ("cbrt_rest", cbrt_rest, -0.1025, 0.1025, 6, cbrt_rest.__doc__),
    ("erf_factor", erf_factor, 0, 0.4901, 6, erf_factor.__doc__),
    (
        "erfc_factor",
        centred(erfc_factor, mpf("0.5")),
        -0.27,
        0.5,
        10,
        "erfc x = e^(-x^2) t erfc_factor with t = 1 / (1 + 0.328125 x), in powers of t - 1/2.",
    ),
]


def main() -> None:
    """Write the header beside this file."""
    lines = ["// Written by float_coefficients.py.", "#pragma once", ""]
    lines += ["namespace gdr::native::coefficients {", ""]
    for name, f, low, high, count, comment in TABLE:
        poly, error = chebyfit(f, [mpf(low), mpf(high)], count, error=True)
        lines += [f"/// {comment}"]
        lines += [f"inline constexpr double {name}[] = {{  // error {float(error):.1e}"]
        lines += [f"    {float(c)!r}," for c in reversed(poly)]
        lines += ["};", ""]
    lines += ["}  // namespace gdr::native::coefficients", ""]
    Path(__file__).with_suffix(".hpp").write_text("\n".join(lines))


main()
