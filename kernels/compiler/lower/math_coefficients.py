#!/usr/bin/env python3
"""Writes math_coefficients.hpp: the polynomials of the functions in math_*.cpp.

Each polynomial minimises the largest weighted error on its interval (Remez' exchange algorithm, E. Ya. Remez
1934; see N. J. Higham, "Accuracy and Stability of Numerical Algorithms", and J.-M. Muller, "Elementary
Functions", chapter 3). Requires mpmath. The degrees are the smallest that reach the error in the comment of
each polynomial.

    python3 kernels/compiler/lower/math_coefficients.py > kernels/compiler/lower/math_coefficients.hpp
"""
import sys

from mpmath import mp, mpf

mp.dps = 50


def remez(f, a, b, degree, weight=lambda x: mpf(1), grid=600):
    """Coefficients c_0 .. c_n of the p in x with the smallest maximum of |weight (p - f)|, and that."""
    a, b = mpf(a), mpf(b)
    middle, half = (a + b) / 2, (b - a) / 2
    points = [mp.cos(mp.pi * k / grid) for k in range(grid, -1, -1)]
    values = [f(middle + half * t) for t in points]
    weights = [weight(middle + half * t) for t in points]
    n = degree + 2
    chosen = [round(grid * k / (n - 1)) for k in range(n)]
    for _ in range(40):
        rows = mp.matrix(n, n)
        right = mp.matrix(n, 1)
        for i, k in enumerate(chosen):
            power = mpf(1)
            for j in range(degree + 1):
                rows[i, j] = power
                power *= points[k]
            rows[i, degree + 1] = (-1) ** i / weights[k]
            right[i] = values[k]
        solution = mp.lu_solve(rows, right)
        c = [solution[j] for j in range(degree + 1)]
        errors = []
        for t, v, w in zip(points, values, weights):
            errors.append((mp.polyval(c[::-1], t) - v) * w)
        # The extremum of each run of errors of one sign; of too many runs the smallest at an end are dropped.
        extrema = []
        for k, e in enumerate(errors):
            if extrema and (e > 0) == (errors[extrema[-1]] > 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = k
            else:
                extrema.append(k)
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        largest = max(abs(e) for e in errors)
        if len(extrema) < n or largest < abs(solution[degree + 1]) * mpf("1.001"):
            break
        chosen = extrema
    # From t in -1..1 to x.
    shifted = [mpf(0)] * (degree + 1)
    for coefficient in reversed(c):
        # shifted = shifted * (x - middle) / half + coefficient
        product = [mpf(0)] * (degree + 1)
        for j in range(degree):
            product[j + 1] += shifted[j] / half
        for j in range(degree + 1):
            product[j] -= shifted[j] * middle / half
        product[0] += coefficient
        shifted = product
    return shifted, largest



def root(x):
    return mp.sqrt(x) if x > 0 else mpf(0)


def even(f, limit):
    """f(sqrt(z)) with its limit at zero."""
    return lambda z: f(root(z)) if z > mpf(10) ** -16 else mpf(limit)


def scaled_erfc(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfc_in_t(t):
    """erfc(x) e^(x^2) / t, where t = 1 / (1 + 21/64 x)."""
    return scaled_erfc(mpf(64) / 21 * (1 / t - 1)) / t


half_pi, root2 = mp.pi / 2, mp.sqrt(2)
eighth = mp.tan(mp.pi / 8)
tiny = mpf(10) ** -20

# name, meaning, function, interval, degree, weight of the error
POLYNOMIALS = []


def polynomial(name, meaning, f, a, b, degree, weight=lambda x: mpf(1)):
    POLYNOMIALS.append((name, meaning, f, a, b, degree, weight))


for name, degree in ("short", 6), ("long", 10), ("double", 11):
    polynomial(f"exp_{name}", "e^x, |x| <= log(2) / 2", mp.exp, -mp.log(2) / 2, mp.log(2) / 2, degree,
               lambda x: mp.exp(-x))
polynomial("exp2_long", "2^x, |x| <= 1/2", lambda x: mpf(2) ** x, -mpf(1) / 2, mpf(1) / 2, 10, lambda x: mpf(2) ** -x)
polynomial("log_short", "(log(1 + x) - x) / x^2, 1 + x from 2^-1/2 to 2^1/2",
           lambda x: (mp.log(1 + x) - x) / x**2 if abs(x) > tiny else -mpf(1) / 2 + x / 3,
           1 / root2 - 1, root2 - 1, 8, lambda x: abs(x * x / mp.log(1 + x)) if abs(x) > tiny else tiny)
polynomial("log_long", "(log((1 + s) / (1 - s)) - 2 s) / s^3, z = s^2",
           even(lambda s: (mp.log((1 + s) / (1 - s)) / s - 2) / s**2, mpf(2) / 3),
           0, ((root2 - 1) / (root2 + 1)) ** 2, 5, lambda z: z + tiny)
polynomial("log2_long", "(log2((1 + s) / (1 - s)) - 2 s / log 2) / s^3, z = s^2",
           even(lambda s: (mp.log((1 + s) / (1 - s)) / mp.log(2) / s - 2 / mp.log(2)) / s**2, 2 / mp.log(2) / 3),
           0, ((root2 - 1) / (root2 + 1)) ** 2, 6, lambda z: (z + tiny) * mp.log(2) / 2)
for name, degree in ("short", 3), ("long", 6):
    polynomial(f"sin_{name}", "(sin(x) - x) / x^3, |x| <= pi/2, z = x^2",
               even(lambda x: (mp.sin(x) / x - 1) / x**2, -mpf(1) / 6), 0, half_pi**2, degree,
               lambda z: z + tiny)
for name, degree in ("short", 2), ("long", 5):
    polynomial(f"tan_sin_{name}", "(sin(x) - x) / x^3, |x| <= pi/4, z = x^2",
               even(lambda x: (mp.sin(x) / x - 1) / x**2, -mpf(1) / 6), 0, half_pi**2 / 4, degree,
               lambda z: z + tiny)
for name, degree in ("short", 4), ("long", 6):
    polynomial(f"tan_cos_{name}", "cos(x), |x| <= pi/4, z = x^2", even(mp.cos, 1), 0, half_pi**2 / 4, degree)
for name, degree in ("short", 4), ("long", 8), ("double", 9):
    polynomial(f"atan_{name}", "(atan(x) - x) / x^3, |x| <= tan(pi/8), z = x^2",
               even(lambda x: (mp.atan(x) / x - 1) / x**2, -mpf(1) / 3), 0, eighth**2, degree,
               lambda z: z + tiny)
for name, degree in ("short", 4), ("long", 10):
    polynomial(f"asin_{name}", "(asin(x) - x) / x^3, |x| <= 1/2, z = x^2",
               even(lambda x: (mp.asin(x) / x - 1) / x**2, mpf(1) / 6), 0, mpf(1) / 4, degree,
               lambda z: z + tiny)
for name, degree in ("short", 4), ("long", 9):
    polynomial(f"expm1_{name}", "(e^x - 1 - x) / x^2, |x| <= log(2) / 2",
               lambda x: (mp.expm1(x) - x) / x**2 if abs(x) > tiny else mpf(1) / 2,
               -mp.log(2) / 2, mp.log(2) / 2, degree, lambda x: abs(x * x / mp.expm1(x)) if abs(x) > tiny else tiny)
polynomial("cbrt", "((1 - e)^(-2/3) - 1) / e, |e| <= 0.1",
           lambda e: ((1 - e) ** (-mpf(2) / 3) - 1) / e if abs(e) > tiny else mpf(2) / 3, -mpf(1) / 10, mpf(1) / 10, 5,
           lambda e: abs(e) + tiny)
polynomial("erf_short", "erf(x) / x, |x| <= 4, w = x^2 - 8",
           lambda w: even(lambda x: mp.erf(x) / x, 2 / mp.sqrt(mp.pi))(w + 8), -8, 8, 16,
           lambda w: (lambda z: root(z) / mp.erf(root(z)) if z > tiny else mpf(1))(w + 8))
polynomial("erf_small", "erf(x) / x, |x| <= 1, z = x^2", even(lambda x: mp.erf(x) / x, 2 / mp.sqrt(mp.pi)),
           0, 1, 10)
polynomial("log_erfc", "log(erfc(x)), 1 <= x <= 6, v = x - 3", lambda v: mp.log(mp.erfc(v + 3)), -2, 3, 14,
           lambda v: mp.erfc(v + 3) / mp.erf(v + 3))
for name, degree in ("short", 10), ("long", 19), ("double", 21):
    polynomial(f"erfc_{name}", "erfc(x) e^(x^2) / t, t = 1 / (1 + 21/64 x), 0 <= x <= 27, u = t - 1/2",
               lambda u: erfc_in_t(u + mpf(1) / 2), mpf(1) / 10 - mpf(1) / 2, mpf(1) / 2, degree,
               lambda u: 1 / erfc_in_t(u + mpf(1) / 2))


# Boys functions F_m(T): up to T = m + 8 e^(T share) F_m(T), which changes least with these shares, as polynomials
# in T - (m + 8) / 2. Beyond, 2 T^(m + 1/2) F_m(T) = Gamma(m + 1/2) - Gamma(m + 1/2, T), the second one with a
# polynomial in u = 1 / T.
ORDERS = range(17)


def boys(m, t):
    return mp.hyp1f1(m + mpf(1) / 2, m + mpf(3) / 2, -t) / (2 * m + 1)


def upper_gamma(m, u):
    """Gamma(m + 1/2, 1/u) u^(m - 1/2) e^(1/u)."""
    a = m + mpf(1) / 2
    return mp.gammainc(a, 1 / u) * u ** (a - 1) * mp.exp(1 / u) if u > 0 else mpf(1)


def share(m):
    return mpf(1) / 4 if m == 0 else mpf(1) / 2 if m <= 4 else mpf(3) / 4


def min_degree(f, a, b, weight, tolerance, first):
    """The coefficients of the smallest degree, from `first` on, that reaches a tolerance."""
    for degree in range(first, 60):
        c, error = remez(f, a, b, degree, weight, 80)
        if error < tolerance:
            return c


def print_boys():
    for precision, tolerance in ("short", mpf("4e-9")), ("long", mpf("4e-16")), ("double", mpf("5e-17")):
        for m in ORDERS:
            end = mpf(m + 8)
            start = (m // 2, 0) if precision == "short" else (8 + m // 2, 4)
            near = min_degree(lambda w: boys(m, w + end / 2) * mp.exp(share(m) * (w + end / 2)), -end / 2, end / 2,
                                lambda w: mp.exp(-share(m) * (w + end / 2)) / boys(m, w + end / 2), tolerance, start[0])
            far = min_degree(lambda u: upper_gamma(m, u), 0, 1 / end,
                               lambda u: mp.exp(-1 / u) * u / 2 / boys(m, 1 / u) + tiny if u > 0 else tiny, tolerance,
                               start[1])
            print_array(f"boys_near_{precision}_{m}", near)
            print_array(f"boys_far_{precision}_{m}", far)
            print(precision, m, len(near), len(far), file=sys.stderr)
    for precision in "short", "long", "double":
        for part in "near", "far":
            print(f"constexpr std::span<const double> boys_{part}_{precision}[] = {{")
            print("\n".join(f"    boys_{part}_{precision}_{m}," for m in ORDERS))
            print("};\n")


def print_array(name, c):
    lines, line = [], "   "
    for x in c:
        word = f" {decimal(x)},"
        if len(line) + len(word) > 99:
            lines.append(line)
            line = "   "
        line += word
    lines.append(line)
    print(f"constexpr double {name}[] = {{")
    print("\n".join(lines))
    print("};\n")


def decimal(x):
    """The shortest decimals of the nearest double."""
    return repr(float(x))


def main():
    print("// Generated by math_coefficients.py: minimax polynomials, coefficients by increasing degree.")
    print("// clang-format off\n#pragma once\n\n#include <span>\n\nnamespace gdr::kc::coefficients {\n")
    for name, meaning, f, a, b, degree, weight in POLYNOMIALS:
        c, error = remez(f, a, b, degree, weight)
        print(f"/// {meaning}: weighted error {mp.nstr(error, 2)}.")
        print_array(name, c)
        print(name, degree, mp.nstr(error, 3), file=sys.stderr)
    print("/// Boys functions: see math_boys.cpp.")
    print_boys()
    print("}  // namespace gdr::kc::coefficients")


if __name__ == "__main__":
    main()
