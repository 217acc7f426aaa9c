// How solid harmonics change when the axes x and z change places: turns about other axes than z
// become turns about z, which multiply each order by a phase.
//
// R_nm(z, y, x) = sum over k of b_nmk R_nk(x, y, z) with real b_nmk. From the derivatives of R
// (Dehnen 2014, Comput. Astrophys. Cosmol. 1, 1: d/dz R_nm = R_(n-1)m and
// d/dx R_nm = (R_(n-1)(m-1) - R_(n-1)(m+1)) / 2) follow
//   b_nmk = (b_(n-1)(m-1)k - b_(n-1)(m+1)k) / 2 for |k| < n,   b_nmn = b_nm(n-2) + 2 b_(n-1)m(n-1)
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "libgdr/tree/harmonics.hpp"

namespace gdr::tree {

/// The coefficients of some orders after the swap, from those before it. Half of all are zero:
/// orders of one parity depend on those of one parity.
struct SwapBlock {
  const double* coefficients = nullptr;  ///< [input][output]
  unsigned first_output = 0, outputs = 0;
  unsigned first_input = 0, inputs = 0;  ///< orders are first, first + 2 and so on
};

/// The blocks of a degree, for real and imaginary parts of orders m >= 0.
struct SwapOfDegree {
  std::array<SwapBlock, 2> real, imaginary;
};

/// The coefficients of all degrees; `multipoles` for M_nm, which change as R_nm do, `local` for
/// F_nm of a sum of conj(R_nm) F_nm, which change by the transposed matrix.
struct AxisSwap {
  std::array<SwapOfDegree, max_harmonics + 1> multipoles, local;
  std::vector<double> numbers;
};

/// Made once.
const AxisSwap& axis_swap();

}  // namespace gdr::tree
