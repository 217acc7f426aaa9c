// Expansions of several particles or clusters side by side: each operation is one on all of them.
// For files that are compiled for several instruction sets (emulator/host/for_each_isa.hpp).
#pragma once

#include <array>
#include <cstddef>

#include "emulator/host/for_each_isa.hpp"
#include "libgdr/tree/harmonics.hpp"

namespace gdr::tree {
namespace {

constexpr std::size_t lane_count = 8;
/// Numbers of several particles or clusters.
typedef double Lanes __attribute__((vector_size(lane_count * sizeof(double))));

struct ComplexLanes {
  Lanes re, im;
};

constexpr std::size_t max_terms_of_sum = (max_harmonics + 1) * (max_harmonics + 2) / 2;

/// The place of a term of order m >= 0.
constexpr std::size_t place(std::size_t n, std::size_t m) { return n * (n + 1) / 2 + m; }
using Terms = std::array<ComplexLanes, max_terms_of_sum>;

#define GDR_INLINE __attribute__((always_inline)) inline

GDR_INLINE void set_lanes(double x, Lanes& lanes) { lanes = Lanes{} + x; }
GDR_INLINE double sum_of(const Lanes& v) {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

/// Sets lane k to the numbers of an expansion, times powers of a ratio.
GDR_INLINE void load_lane(unsigned degree, const double* numbers, double ratio, std::size_t k,
                          Terms& terms) {
  double power = 1;
  for (std::size_t n = 0, t = 0; n <= degree; ++n, power *= ratio)
    for (std::size_t m = 0; m <= n; ++m, ++t) {
      terms[t].re[k] = numbers[2 * t] * power;
      terms[t].im[k] = numbers[2 * t + 1] * power;
    }
}

GDR_INLINE void clear(unsigned degree, Terms& terms) {
  for (std::size_t t = 0; t < place(degree + 1, 0); ++t) {
    set_lanes(0, terms[t].re);
    set_lanes(0, terms[t].im);
  }
}

}  // namespace
}  // namespace gdr::tree
