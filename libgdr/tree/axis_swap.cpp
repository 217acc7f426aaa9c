#include "libgdr/tree/axis_swap.hpp"

#include <cstdlib>

namespace gdr::tree {
namespace {

/// b_nmk of a degree, for orders from -n to n; others are zero.
struct SwapMatrix {
  int degree = 0;
  std::vector<double> values;

  explicit SwapMatrix(int n)
      : degree(n), values(static_cast<std::size_t>(2 * n + 1) * (2 * n + 1)) {}
  std::size_t index(int m, int k) const {
    return static_cast<std::size_t>((m + degree) * (2 * degree + 1) + k + degree);
  }
  double at(int m, int k) const {
    return std::abs(m) > degree || std::abs(k) > degree ? 0 : values[index(m, k)];
  }
};

/// (-1)^m
double sign_of_order(int m) { return m % 2 == 0 ? 1 : -1; }

SwapMatrix next_matrix(const SwapMatrix& before) {
  const int n = before.degree + 1;
  SwapMatrix b(n);
  for (int m = -n; m <= n; ++m) {
    for (int k = -n + 1; k < n; ++k)
      b.values[b.index(m, k)] = (before.at(m - 1, k) - before.at(m + 1, k)) / 2;
    if (n == 1) continue;
    b.values[b.index(m, n)] = b.at(m, n - 2) + 2 * before.at(m, n - 1);
    b.values[b.index(m, -n)] = b.at(m, 2 - n) - 2 * before.at(m, 1 - n);
  }
  if (n == 1) {  // x = R_11 - R_1(-1), y = -i (R_11 + R_1(-1)), z = R_10
    b.values[b.index(0, 1)] = 1;
    b.values[b.index(0, -1)] = -1;
    for (const int m : {-1, 1})
      for (const int k : {-1, 1}) b.values[b.index(m, k)] = 0.5;
  }
  return b;
}

/// The change of the part of order m by that of order k: those of -k are (-1)^k times the
/// conjugates.
double part_of(const SwapMatrix& b, bool transposed, bool imaginary, int m, int k) {
  const double plus = transposed ? b.at(k, m) : b.at(m, k);
  if (k == 0) return imaginary ? 0 : plus;
  const double minus = sign_of_order(k) * (transposed ? b.at(-k, m) : b.at(m, -k));
  return imaginary ? plus - minus : plus + minus;
}

SwapBlock block_of(const SwapMatrix& b, bool transposed, bool imaginary, unsigned parity,
                   std::vector<double>& numbers) {
  const auto n = static_cast<unsigned>(b.degree);
  // Of multipoles, the orders k of real parts have the parity of n + m, of imaginary parts the
  // other one; local expansions take them the other way, which is the same.
  const unsigned other = (n + parity + (imaginary ? 1 : 0)) % 2;
  // The imaginary part of order 0 is zero.
  const auto first = [&](unsigned p) { return imaginary && p == 0 ? 2U : p; };
  const auto count = [&](unsigned from) { return from > n ? 0 : (n - from) / 2 + 1; };
  SwapBlock block;
  block.first_output = first(parity);
  block.outputs = count(block.first_output);
  block.first_input = first(other);
  block.inputs = count(block.first_input);
  for (unsigned k = 0; k < block.inputs; ++k)
    for (unsigned m = 0; m < block.outputs; ++m)
      numbers.push_back(part_of(b, transposed, imaginary,
                                static_cast<int>(block.first_output + 2 * m),
                                static_cast<int>(block.first_input + 2 * k)));
  return block;
}

AxisSwap make_axis_swap() {
  AxisSwap all;
  SwapMatrix b(0);
  b.values[0] = 1;
  std::vector<SwapBlock*> blocks;
  for (unsigned n = 0; n <= max_harmonics; ++n) {
    if (n > 0) b = next_matrix(b);
    for (const bool transposed : {false, true})
      for (const bool imaginary : {false, true})
        for (unsigned parity = 0; parity < 2; ++parity) {
          SwapOfDegree& degree = (transposed ? all.local : all.multipoles)[n];
          SwapBlock& block = (imaginary ? degree.imaginary : degree.real)[parity];
          block = block_of(b, transposed, imaginary, parity, all.numbers);
          blocks.push_back(&block);
        }
  }
  const double* next = all.numbers.data();
  for (SwapBlock* block : blocks) {
    block->coefficients = next;
    next += block->inputs * block->outputs;
  }
  return all;
}

}  // namespace

const AxisSwap& axis_swap() {
  static const AxisSwap all = make_axis_swap();
  return all;
}

}  // namespace gdr::tree
