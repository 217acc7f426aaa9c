// The host's floating-point mode while native code runs, and what floats lose.
#pragma once

#include <cfenv>
#include <cmath>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::native {

/// Rounding to nearest, zeros for subnormals on both sides, no traps; the caller's mode comes back
/// at the end of the scope. It belongs to the thread.
class FloatMode {
 public:
#if defined(__x86_64__)
  FloatMode() : saved_(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
  ~FloatMode() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;

 public:
#else
  FloatMode() = default;
#endif
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;
};

/// Does a double become a float without being lost: is it zero, no number, infinite, or within the
/// range of floats?
inline bool fits_float(double value) noexcept {
  const double magnitude = std::abs(value);
  constexpr double least = std::numeric_limits<float>::min();
  // Halfway to the next power of two, and beyond, it becomes infinite.
  constexpr double most = 0x1.ffffffp127;
  return !(magnitude < least || magnitude >= most) || magnitude == 0 || std::isinf(value);
}

/// Watches the operations of a thread for what floats lose: results (or estimates) too small for
/// their format, and if asked for also those too large, which become infinite. Small numbers are
/// kept as subnormals in its scope, since the host's estimates of reciprocals raise no flag but the
/// use of a subnormal does. The mode from before comes back at the end.
class RangeWatch {
 public:
#if defined(__x86_64__)
  explicit RangeWatch(bool overflow)
      : saved_(_mm_getcsr()), flags_(small | (overflow ? large : 0U)) {
    _mm_setcsr(0x1f80);
  }
  ~RangeWatch() { _mm_setcsr(saved_); }
  bool left() const { return (_mm_getcsr() & flags_) != 0; }

 private:
  static constexpr unsigned small = 0x12, large = 0x08;
  unsigned saved_, flags_;
#else
  explicit RangeWatch(bool overflow) : flags_(FE_UNDERFLOW | (overflow ? FE_OVERFLOW : 0)) {
    std::feclearexcept(flags_);
  }
  bool left() const { return std::fetestexcept(flags_) != 0; }

 private:
  int flags_;
#endif

 public:
  RangeWatch(const RangeWatch&) = delete;
  RangeWatch& operator=(const RangeWatch&) = delete;
};

}  // namespace gdr::native
