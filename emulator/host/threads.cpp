#include "emulator/host/threads.hpp"

#include <omp.h>

namespace gdr {

unsigned usable_threads(unsigned limit) noexcept {
  return limit != 0 ? limit : static_cast<unsigned>(omp_get_max_threads());
}

}  // namespace gdr
