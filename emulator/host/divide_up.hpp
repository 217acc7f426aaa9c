// Division of counts.
#pragma once

#include <cstdint>

namespace gdr {

/// count / size, rounded up; no count overflows.
constexpr std::uint64_t divide_up(std::uint64_t count, std::uint64_t size) noexcept {
  return count / size + (count % size != 0 ? 1 : 0);
}

}  // namespace gdr
