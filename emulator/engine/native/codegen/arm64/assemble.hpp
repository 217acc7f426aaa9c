// Machine code of kernels for AArch64, as words: any host can generate it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// A KernelFunction for AArch64, whose code may be at any multiple of 64 bytes.
struct Arm64Code {
  std::vector<std::uint32_t> words;
  std::uint32_t copies = 1;  ///< work items per call
  std::size_t spill_bytes = 0;
  /// Words of the last loop, which is the one without rare conditions if there is one; equal if
  /// there is no loop.
  std::size_t loop_begin = 0, loop_end = 0;
  unsigned groups_in_loop = 1;  ///< source groups in one of its iterations
};

/// `copies`: work items per call; 0: the fastest number.
Arm64Code assemble_arm64(const CodeContext& context, std::uint32_t copies);

}  // namespace gdr::native
