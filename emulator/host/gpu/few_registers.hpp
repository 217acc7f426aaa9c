// A request of a text to its compiler.
#pragma once

#include <string_view>

namespace gdr::gpu {

/// A text that begins with this line has a loop so long that NVIDIA's compilers, when they optimize
/// fully, compute ahead more than the registers hold. They then optimize less: the loop has as many
/// instructions, and needs fewer registers. Other compilers ignore it.
constexpr std::string_view few_registers = "// compile for few registers\n";

constexpr bool wants_few_registers(std::string_view text) noexcept {
  return text.starts_with(few_registers);
}

}  // namespace gdr::gpu
