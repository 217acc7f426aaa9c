#include "libgdr/compat/grape/regular_sums.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/host/for_each_isa.hpp"
#include "libgdr/compat/grape/regular_loop.hpp"

namespace gdr::compat::grape {
namespace {

struct Portable {
  using Register = double;
  using Mask = bool;
  static constexpr std::size_t lanes = 1;
  static Register set(double x) { return x; }
  static Register load(const double* from) { return *from; }
  static void store(double* to, Register x) { *to = x; }
  static Register add(Register a, Register b) { return a + b; }
  static Register sub(Register a, Register b) { return a - b; }
  static Register mul(Register a, Register b) { return a * b; }
  static Register fma(Register a, Register b, Register c) { return a * b + c; }
  static Register fnma(Register a, Register b, Register c) { return c - a * b; }
  static Register min(Register a, Register b) { return std::min(a, b); }
  static Mask less(Register a, Register b) { return a < b; }
  static Mask and_not(Mask a, Mask b) { return !a && b; }
  static unsigned bits(Mask m) { return m ? 1 : 0; }
  static Register keep(Mask m, Register x) { return m ? x : 0; }
  static Register rsqrt(Register x) { return 1 / std::sqrt(x); }
};

/// Copies vectors to columns; returns 0, or NaN if a value is not finite.
GDR_FOR_EACH_ISA double copy_rows(std::size_t n, const double (*rows)[3], double* x, double* y,
                                  double* z) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = 0; j < n; ++j) {
    const double a = rows[j][0], b = rows[j][1], c = rows[j][2];
    x[j] = a;
    y[j] = b;
    z[j] = c;
    sum += 0 * a + 0 * b + 0 * c;
  }
  return sum;
}

GDR_FOR_EACH_ISA double copy(std::size_t n, const double* values, double* to) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = 0; j < n; ++j) {
    to[j] = values[j];
    sum += 0 * values[j];
  }
  return sum;
}

}  // namespace

bool SourceColumns::assign(std::size_t n, const double* mass, const double (*x)[3],
                           const double (*v)[3]) {
  n_ = length_ = 0;
  const std::size_t length = (n + sources_together - 1) / sources_together * sources_together;
  if (values_ == nullptr || length > capacity_) {
    // Also without particles no pointer to a column is null.
    const std::size_t wanted = std::max(length, sources_together);
    values_.reset();
    values_.reset(static_cast<double*>(
        ::operator new[](wanted* columns * sizeof(double), std::align_val_t(64))));
    capacity_ = wanted;
  }
  const double sum = copy_rows(n, x, at(X), at(Y), at(Z)) +
                     copy_rows(n, v, at(Vx), at(Vy), at(Vz)) + copy(n, mass, at(Mass));
  if (sum != 0) return false;
  constexpr double far = 1e155;  // its square is infinite
  for (std::size_t c = 0; c < columns; ++c)
    std::fill(at(c) + n, at(c) + length, c == X || c == Y || c == Z ? far : 0);
  n_ = n;
  length_ = length;
  return true;
}

std::array<double, 7> PartialSums::total() const {
  std::array<double, 7> sums{};
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const double* const s = lane[k];
    sums[k] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
  return sums;
}

const RegularLoops& regular_loops(Isa isa) noexcept {
  static constexpr RegularLoops portable{regular_loop<Portable, false>,
                                         regular_loop<Portable, true>};
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return regular_loops_avx512(prefers_square_root_instruction());
  if (isa == Isa::Avx2) return regular_loops_avx2();
#endif
  return portable;
}

}  // namespace gdr::compat::grape
