// Machine code of verified operations for AArch64, as words: any host can generate it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// A DoublesKernel for AArch64, whose code may be at any multiple of 64 bytes.
struct Arm64Code {
  std::vector<std::uint32_t> words;
  std::uint32_t scratch_bytes = 0;
  unsigned copies = 1;  ///< vectors in an iteration of the loops
  /// Words of the loop over vectors, and of that over elements inside.
  std::size_t vectors_begin = 0, vectors_end = 0, loop_begin = 0, loop_end = 0;
};

/// As assemble, for NEON.
Arm64Code assemble_arm64(const Trace& trace, std::uint32_t lanes, std::uint32_t scratch);

/// The code of an iteration of a program's body on whole blocks, if all of it is one operation.
std::optional<Arm64Code> arm64_code_of_body(const Program& program);

}  // namespace gdr::codegen
