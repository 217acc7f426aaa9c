#!/usr/bin/env python3
"""Computes the coefficients of boys_fit.cpp and prints that file. Needs mpmath; takes some minutes.

For F_m(T) (T + c)^(m + 1/2) as a function of u = 2 c/(T + c) - 1: rational functions of equal degrees
in numerator and denominator, with the smallest degree whose relative error is below the bound. The
error is minimised on Chebyshev points by linear least squares, P - f Q = 0 with the weights
1/(f Q), which are repeated with more weight on points of large error (Lawson's algorithm).
"""

import mpmath as mp

BOUNDS = {"long": mp.mpf("5e-14"), "short": mp.mpf("1.5e-8")}
REPEATS = 6


def boys(m, t):
    """F_m(t); beyond t = 250 its asymptotic value is exact to 1e-100."""
    if t == 0:
        return mp.mpf(1) / (2 * m + 1)
    if t > 250:
        return mp.gamma(m + mp.mpf(1) / 2) / (2 * t ** (m + mp.mpf(1) / 2))
    return mp.hyp1f1(m + mp.mpf(1) / 2, m + mp.mpf(3) / 2, -t) / (2 * m + 1)


def chebyshev(u, n):
    """T_0(u) to T_n(u)."""
    values = [mp.mpf(1), u]
    while len(values) <= n:
        values.append(2 * u * values[-1] - values[-2])
    return values[: n + 1]


def fit(m, c, n):
    """Largest relative error, and Chebyshev coefficients of P (n + 1) and of Q without the leading 1."""
    count = 6 * n
    points = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]
    rows = [chebyshev(u, n) for u in points]
    values = []
    for u in points:
        y = (u + 1) / 2
        values.append(boys(m, c / y - c) * (c / y) ** (m + mp.mpf(1) / 2))
    weights = [1 / f for f in values]
    for _ in range(REPEATS):
        a, b = mp.matrix(count, 2 * n + 1), mp.matrix(count, 1)
        for k, (f, w, row) in enumerate(zip(values, weights, rows)):
            for j in range(n + 1):
                a[k, j] = w * row[j]
            for j in range(1, n + 1):
                a[k, n + j] = -w * f * row[j]
            b[k] = w * f
        x = mp.lu_solve(a.T * a, a.T * b)
        errors, bottoms = [], []
        for f, row in zip(values, rows):
            top = sum(x[j] * row[j] for j in range(n + 1))
            bottom = 1 + sum(x[n + j] * row[j] for j in range(1, n + 1))
            errors.append(abs(top / bottom / f - 1))
            bottoms.append(abs(bottom))
        worst = max(errors)
        weights = [
            mp.sqrt(error / worst + mp.mpf("0.05")) / (f * bottom)
            for error, f, bottom in zip(errors, values, bottoms)
        ]
    return worst, [x[j] for j in range(n + 1)], [mp.mpf(1)] + [x[n + j] for j in range(1, n + 1)]


def powers(coefficients):
    """Coefficients of powers from those of Chebyshev polynomials."""
    n = len(coefficients)
    made = [mp.mpf(0)] * n
    before, now = [mp.mpf(1)] + [mp.mpf(0)] * n, [mp.mpf(0), mp.mpf(1)] + [mp.mpf(0)] * n
    for c in coefficients:
        for i in range(n):
            made[i] += c * before[i]
        following = [-value for value in before]
        for i in range(n):
            following[i + 1] += 2 * now[i]
        before, now = now, following + [mp.mpf(0)] * (len(now) - len(following))
    return made


def main():
    mp.mp.dps = 60
    print('#include "libgdr/chemistry/boys_fit.hpp"\n\n#include <array>\n')
    print("namespace gdr::chemistry {\nnamespace {\n")
    for name, bound in BOUNDS.items():
        shifts = []
        for m in range(9):
            shifts.append(8 + 2 * m)
            degree = (11 if name == "long" else 6) + (m + 1) // 2
            worst, p, q = fit(m, mp.mpf(shifts[m]), degree)
            while worst > bound:
                degree += 1
                worst, p, q = fit(m, mp.mpf(shifts[m]), degree)
            p, q = powers(p), powers(q)
            for letter, row in (("p", p), ("q", q)):
                text = ", ".join(repr(float(value / q[0])) for value in row)
                print(f"constexpr double {name}_{letter}{m}[] = {{{text}}};")
        print(f"\nconstexpr std::array<BoysFit, 9> {name}_fits{{{{")
        for m, c in enumerate(shifts):
            print(f"    {{{float(c)}, {name}_p{m}, {name}_q{m}}},")
        print("}};\n")
    print("}  // namespace\n\nconst BoysFit& boys_fit(unsigned m, Accuracy accuracy) {")
    print("  return accuracy == Accuracy::Long ? long_fits[m] : short_fits[m];\n}\n")
    print("}  // namespace gdr::chemistry")


if __name__ == "__main__":
    main()
