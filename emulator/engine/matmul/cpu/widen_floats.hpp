// Floats of records as doubles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr {

/// Converts packed floats, two per word, to doubles. Subnormal floats become zeros of their sign,
/// as at the port.
void widen_floats(const std::uint64_t* words, std::size_t n, std::uint64_t* doubles) noexcept;

}  // namespace gdr
