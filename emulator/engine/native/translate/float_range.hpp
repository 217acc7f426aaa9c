// Detection of range errors of float arithmetic.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::native {

/// Whether a double is zero, NaN, infinite, or within the range of floats.
inline bool fits_float(double value) noexcept {
  const double magnitude = std::abs(value);
  constexpr double smallest = std::numeric_limits<float>::min();
  // Halfway to the next power of two, and beyond, it becomes infinite.
  constexpr double end = 0x1.ffffffp127;
  return !(magnitude < smallest || magnitude >= end) || magnitude == 0 || std::isinf(value);
}

/// Detects range errors of a thread's operations: underflow, overflow, or both. Subnormals
/// are enabled in its scope if underflow is detected, since the host's reciprocal estimates raise
/// no flag but the use of a subnormal does; else they are zero. Restores the mode at the end.
class RangeErrorMonitor {
 public:
#if defined(__x86_64__)
  explicit RangeErrorMonitor(bool overflow, bool underflow = true)
      : saved_(_mm_getcsr()), flags_((underflow ? small : 0U) | (overflow ? large : 0U)) {
    _mm_setcsr(underflow ? 0x1f80 : 0x9fc0);
  }
  ~RangeErrorMonitor() { _mm_setcsr(saved_); }
  bool detected() const { return (_mm_getcsr() & flags_) != 0; }

 private:
  static constexpr unsigned small = 0x12, large = 0x08;
  unsigned saved_, flags_;
#elif defined(__aarch64__)
  explicit RangeErrorMonitor(bool overflow, bool underflow = true)
      : flags_((underflow ? FE_UNDERFLOW : 0) | (overflow ? FE_OVERFLOW : 0)) {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    const std::uint64_t mode = underflow ? 0 : std::uint64_t{1} << 24;
    asm volatile("msr fpcr, %0" : : "r"(mode));
    std::feclearexcept(flags_);
  }
  ~RangeErrorMonitor() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
  bool detected() const { return std::fetestexcept(flags_) != 0; }

 private:
  std::uint64_t saved_;
  int flags_;
#else
  explicit RangeErrorMonitor(bool overflow, bool underflow = true)
      : flags_((underflow ? FE_UNDERFLOW : 0) | (overflow ? FE_OVERFLOW : 0)) {
    std::feclearexcept(flags_);
  }
  bool detected() const { return std::fetestexcept(flags_) != 0; }

 private:
  int flags_;
#endif

 public:
  RangeErrorMonitor(const RangeErrorMonitor&) = delete;
  RangeErrorMonitor& operator=(const RangeErrorMonitor&) = delete;
};

}  // namespace gdr::native
