// Checks of properties in fuzz targets: a failed check ends the run, and the driver saves the
// input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace fuzz {

/// Aborts with the text if `good` is false; the driver and libFuzzer then save the input.
inline void check(bool good, const char* text) {
  if (good) return;
  std::fprintf(stderr, "fuzz: check failed: %s\n", text);
  std::abort();
}

}  // namespace fuzz
