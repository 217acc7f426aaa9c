// The host's floating-point mode while native code runs.
#pragma once

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

}  // namespace gdr::native
