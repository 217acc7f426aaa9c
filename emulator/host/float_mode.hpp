// The host's floating-point mode for emulated arithmetic.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr {

/// Rounding to nearest, zeros for subnormals on both sides, all exceptions masked; the caller's
/// mode is restored at the end of the scope. The mode is that of the thread.
class MachineFloatMode {
 public:
#if defined(__x86_64__)
  MachineFloatMode() : saved_(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
  ~MachineFloatMode() { _mm_setcsr(saved_); }
#else
  MachineFloatMode() = default;
  ~MachineFloatMode() = default;
#endif
  MachineFloatMode(const MachineFloatMode&) = delete;
  MachineFloatMode& operator=(const MachineFloatMode&) = delete;

 private:
#if defined(__x86_64__)
  unsigned saved_;
#endif
};

}  // namespace gdr
