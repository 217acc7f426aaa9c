// The potential of distant clusters as a local expansion. The axes are turned so that z points from
// a cluster to the expansion: then only equal orders act on each other, and the work is of third
// order in the degree, not of fourth (White and Head-Gordon 1996, J. Chem. Phys. 105, 5061). A turn
// consists of turns about z and swaps of x and z (Dehnen 2014, Comput. Astrophys. Cosmol. 1, 1).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "libgdr/tree/axis_swap.hpp"
#include "libgdr/tree/harmonic_lanes.hpp"

namespace gdr::tree {
namespace {

/// Complex numbers of unit size and their powers, which turn each order by an angle.
using Phases = std::array<ComplexLanes, max_harmonics + 1>;
/// The terms of one degree.
using Row = std::array<ComplexLanes, max_harmonics + 1>;

using Part = Lanes ComplexLanes::*;

GDR_INLINE void make_powers(unsigned degree, const Lanes& re, const Lanes& im, Phases& powers) {
  set_lanes(1, powers[0].re);
  set_lanes(0, powers[0].im);
  for (std::size_t m = 1; m <= degree; ++m) {
    const ComplexLanes& before = powers[m - 1];
    powers[m] = {before.re * re - before.im * im, before.re * im + before.im * re};
  }
}

/// Turns about z: multiplies each order of a degree by its phase, or the conjugate.
template <bool conjugate>
GDR_INLINE void turn(std::size_t n, const Phases& phases, ComplexLanes* terms) {
  for (std::size_t m = 1; m <= n; ++m) {
    ComplexLanes& t = terms[m];
    const Lanes re = phases[m].re, im = conjugate ? -phases[m].im : phases[m].im;
    t = {t.re * re - t.im * im, t.re * im + t.im * re};
  }
}

/// Consecutive outputs of a block, from its first inputs.
template <std::size_t count, Part part>
GDR_INLINE void swap_outputs(const SwapBlock& block, unsigned inputs, unsigned output,
                             const ComplexLanes* in, ComplexLanes* out) {
  Lanes sum[count];
  for (Lanes& s : sum) set_lanes(0, s);
  const double* c = block.coefficients + output;
  for (unsigned k = 0; k < inputs; ++k, c += block.outputs) {
    const Lanes& value = in[block.first_input + 2 * k].*part;
    for (std::size_t r = 0; r < count; ++r) sum[r] += value * c[r];
  }
  for (std::size_t r = 0; r < count; ++r) out[block.first_output + 2 * (output + r)].*part = sum[r];
}

/// How many orders first, first + 2, ... of a block do not exceed the largest.
GDR_INLINE unsigned orders_up_to(unsigned first, unsigned all, unsigned largest) {
  return first > largest ? 0 : std::min(all, (largest - first) / 2 + 1);
}

template <Part part>
GDR_INLINE void swap_block(const SwapBlock& block, unsigned max_input, unsigned max_output,
                           const ComplexLanes* in, ComplexLanes* out) {
  const unsigned inputs = orders_up_to(block.first_input, block.inputs, max_input);
  const unsigned outputs = orders_up_to(block.first_output, block.outputs, max_output);
  unsigned k = 0;
  for (; k + 4 <= outputs; k += 4) swap_outputs<4, part>(block, inputs, k, in, out);
  if (outputs - k == 3) swap_outputs<3, part>(block, inputs, k, in, out);
  if (outputs - k == 2) swap_outputs<2, part>(block, inputs, k, in, out);
  if (outputs - k == 1) swap_outputs<1, part>(block, inputs, k, in, out);
}

/// Lets x and z change places, for the terms of a degree. Orders above the largest inputs are zero,
/// those above the largest outputs are not written.
GDR_INLINE void swap_axes(const SwapOfDegree& swap, unsigned max_input, unsigned max_output,
                          const ComplexLanes* in, ComplexLanes* out) {
  set_lanes(0, out->im);
  for (unsigned parity = 0; parity < 2; ++parity) {
    swap_block<&ComplexLanes::re>(swap.real[parity], max_input, max_output, in, out);
    swap_block<&ComplexLanes::im>(swap.imaginary[parity], max_input, max_output, in, out);
  }
}

constexpr std::array<double, max_harmonics + 1> make_factorials() {
  std::array<double, max_harmonics + 1> f = {1};
  for (std::size_t n = 1; n < f.size(); ++n) f[n] = f[n - 1] * static_cast<double>(n);
  return f;
}
constexpr std::array<double, max_harmonics + 1> factorials = make_factorials();

/// The terms of degree k of the local expansions of multipoles on the negative z axis at a distance
/// of one, for which I_n0 = n! and others are zero; the sign (-1)^k is left out.
GDR_INLINE void act_along_z(unsigned degree, unsigned multipole_degree, std::size_t k,
                            unsigned max_order, const Terms& multipoles, ComplexLanes* local) {
  const std::size_t last = std::min<std::size_t>(multipole_degree, degree - k);
  for (std::size_t l = 0; l <= max_order; ++l) {
    Lanes re, im;
    set_lanes(0, re);
    im = re;
    for (std::size_t n = l; n <= last; ++n) {
      const double factor = factorials[n + k];
      re += multipoles[place(n, l)].re * factor;
      im += multipoles[place(n, l)].im * factor;
    }
    local[l] = l % 2 == 0 ? ComplexLanes{re, im} : ComplexLanes{-re, -im};
  }
}

/// Exchanges blocks of so many numbers: the odd ones of a and the even ones of b.
template <int first>
GDR_INLINE void interleave(Lanes& a, Lanes& b) {
  static_assert(first == 1 || first == 2 || first == 4);
  const Lanes x = a, y = b;
  if constexpr (first == 1) {
    a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  } else if constexpr (first == 2) {
    a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Eight consecutive numbers of each of eight expansions, side by side.
GDR_INLINE void load_eight(const std::array<const double*, lane_count>& numbers, std::size_t at,
                           Lanes (&v)[lane_count]) {
  for (std::size_t k = 0; k < lane_count; ++k) std::memcpy(&v[k], numbers[k] + at, sizeof(Lanes));
  for (const std::size_t k : {0, 2, 4, 6}) interleave<1>(v[k], v[k + 1]);
  for (const std::size_t k : {0, 1, 4, 5}) interleave<2>(v[k], v[k + 2]);
  for (const std::size_t k : {0, 1, 2, 3}) interleave<4>(v[k], v[k + 4]);
}

/// The numbers of expansions side by side.
GDR_INLINE void load_lanes(unsigned degree, const std::array<const double*, lane_count>& numbers,
                           Terms& terms) {
  static_assert(lane_count == 8);
  const std::size_t count = 2 * place(degree + 1, 0);
  Lanes* const to = &terms[0].re;
  std::size_t t = 0;
  for (; t + lane_count <= count; t += lane_count) {
    Lanes v[lane_count];
    load_eight(numbers, t, v);
    for (std::size_t k = 0; k < lane_count; ++k) to[t + k] = v[k];
  }
  for (; t < count; ++t)
    for (std::size_t k = 0; k < lane_count; ++k) to[t][k] = numbers[k][t];
}

GDR_FOR_EACH_ISA void add_turned_clusters(unsigned degree, unsigned multipole_degree,
                                          std::span<const Expansion> clusters, const Frame& frame,
                                          double* local) {
  static constexpr std::array<double, expansion_size(max_harmonics)> none = {};
  const AxisSwap& swap = axis_swap();
  const unsigned of_multipoles = std::min(degree, multipole_degree);
  Terms terms, sum;
  Phases first_turn, second_turn;
  Row one, two;
  clear(degree, sum);
  for (std::size_t first = 0; first < clusters.size(); first += lane_count) {
    // The first turn brings the direction into the plane of y and z, the second one, about the axis
    // that was x, to z.
    Lanes across, along_x, along_y, along_z, inverse, ratio;
    set_lanes(1, along_y);
    set_lanes(0, along_x);
    inverse = ratio = along_z = along_x;
    across = along_y;
    std::array<const double*, lane_count> numbers;
    numbers.fill(none.data());
    for (std::size_t k = 0; k < lane_count && first + k < clusters.size(); ++k) {
      const Expansion& e = clusters[first + k];
      double d[3], square = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = (frame.centre[c] - e.frame.centre[c]) / frame.radius;
        square += d[c] * d[c];
      }
      inverse[k] = 1 / std::sqrt(square);
      for (double& c : d) c *= inverse[k];
      across[k] = std::sqrt(d[0] * d[0] + d[1] * d[1]);
      along_x[k] = across[k] > 0 ? d[0] / across[k] : 0;
      along_y[k] = across[k] > 0 ? d[1] / across[k] : 1;
      along_z[k] = d[2];
      ratio[k] = e.frame.radius / frame.radius * inverse[k];
      numbers[k] = e.numbers;
    }
    load_lanes(of_multipoles, numbers, terms);
    make_powers(degree, along_y, along_x, first_turn);
    make_powers(degree, along_z, -across, second_turn);
    Lanes power;
    set_lanes(1, power);
    for (unsigned n = 0; n <= of_multipoles; ++n, power *= ratio) {
      ComplexLanes* const row = &terms[place(n, 0)];
      for (std::size_t m = 0; m <= n; ++m) row[m] = {row[m].re * power, row[m].im * power};
      turn<false>(n, first_turn, row);
      swap_axes(swap.multipoles[n], n, n, row, one.data());
      turn<false>(n, second_turn, one.data());
      swap_axes(swap.multipoles[n], n, std::min(n, degree - n), one.data(), row);
    }
    power = inverse / frame.radius;
    for (unsigned k = 0; k <= degree; ++k, power *= -inverse) {
      const unsigned most = std::min({k, degree - k, of_multipoles});
      act_along_z(degree, of_multipoles, k, most, terms, one.data());
      swap_axes(swap.local[k], most, k, one.data(), two.data());
      turn<true>(k, second_turn, two.data());
      swap_axes(swap.local[k], k, k, two.data(), one.data());
      turn<true>(k, first_turn, one.data());
      ComplexLanes* const to = &sum[place(k, 0)];
      for (std::size_t l = 0; l <= k; ++l) {
        to[l].re += power * one[l].re;
        to[l].im += power * one[l].im;
      }
    }
  }
  for (std::size_t t = 0; t < place(degree + 1, 0); ++t) {
    local[2 * t] += sum_of(sum[t].re);
    local[2 * t + 1] += sum_of(sum[t].im);
  }
}

}  // namespace

void add_far_clusters(unsigned degree, unsigned multipole_degree,
                      std::span<const Expansion> clusters, const Frame& frame, double* local) {
  constexpr unsigned min_turned = 7;
  (degree < min_turned ? add_far_clusters_by_sums : add_turned_clusters)(degree, multipole_degree,
                                                                         clusters, frame, local);
}

}  // namespace gdr::tree
