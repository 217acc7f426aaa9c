// The processor's hint for loops that poll memory.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace gdr {

/// Reduces power and memory traffic of a polling loop; no effect on other architectures.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

}  // namespace gdr
