// What a fuzz target promises: a broken promise ends the run and keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace fuzz {

/// Abort with the text if `good` is false; the driver and libFuzzer then save the input.
inline void check(bool good, const char* text) {
  if (good) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", text);
  std::abort();
}

}  // namespace fuzz
