// Kernels of the J-engine, as texts of the kernel language.
#pragma once

#include <string>

#include "libgdr/chemistry/boys_fit.hpp"
#include "libgdr/chemistry/hermite.hpp"

namespace gdr::chemistry {

/// Results of one kernel: their sums stay in the register file of a PE, which has 32 words.
inline constexpr std::size_t max_results = 20;

/// The kernel for targets of total order `li` (bra pairs) and sources of order `lj` (ket pairs with
/// their density), for the results from `first` to before `last` in the list of `hermite_orders`.
///
/// Targets: x, y, z, p. Sources: xs, ys, zs, q, d_0, d_1, ... Results: v_0, v_1, ...
///   v_k = sum over sources and n of d_n R_{k+n}(p q/(p + q), P - Q)/sqrt(p + q),
/// where R_tuv is the derivative of F_0(alpha |P - Q|^2) to the coordinates of P, of orders t, u,
/// v. The host gives d the signs of the derivatives to Q and the factor 2 pi^(5/2)/q, and
/// multiplies results by 1/p.
std::string coulomb_kernel(unsigned li, unsigned lj, std::size_t first, std::size_t last,
                           Accuracy accuracy);

/// The Boys functions alone, by the same statements. Targets: r2. Sources: p, q. Results:
///   f_n = sum over sources of (2 alpha)^n F_n(alpha r2)/sqrt(p + q), alpha = p q/(p + q).
std::string boys_kernel(unsigned order);

}  // namespace gdr::chemistry
