// Generated code in memory that can be executed and no longer be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gdr {

/// A copy of code in pages of its own, which are written first and then made executable: never both
/// at once. The pages are freed with the last owner. Null if the operating system has no memory for
/// them, or refuses to make it executable, which is recorded (host_limits.hpp).
std::shared_ptr<const std::byte> executable_copy(std::span<const std::uint32_t> code);

}  // namespace gdr
