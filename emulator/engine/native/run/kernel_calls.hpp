// Calls of a section's code: invariant words, the choice of code, and the loop's schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/run/loop_planner.hpp"
#include "emulator/host/line_allocator.hpp"

namespace gdr::native {

using LaneBytes = std::vector<std::byte, LineAllocator<std::byte>>;

inline void grow(LaneBytes& bytes, std::size_t size) {
  if (bytes.size() < size) bytes.resize(size);
}

/// Words of the broadcast memory from `address` on, `stride` shorts apart.
inline WordsIn memory_words(const BlockState& block, WordType type, std::uint32_t address,
                            std::size_t stride) {
  const std::uint64_t* const first = block.bm.data() + address;
  return {first, is_long(type) ? first + 1 : first, stride};
}

/// The set of a section's invariant words that are zero in a block, for CompiledSection::code.
std::uint64_t zero_words(const CompiledSection& section, const BlockState& block);

/// The invariant words of a section as lanes, without its tables. False if floats cannot represent
/// them.
bool uniform_lanes(const CompiledSection& section, Precision precision, const BlockState& block,
                   std::byte* to);

/// The sources of a loop, one group for each iteration.
struct LoopSources {
  const std::byte* groups = nullptr;  ///< groups of source words
  std::uint64_t count = 1;
  const SourceWindows* windows = nullptr;  ///< null: ranges of words are unknown
  std::uint64_t first_window = 0;
};

class NearSources;

/// What all kernels of a section read.
struct KernelCalls {
  const CompiledSection& section;
  const CompiledKernels& code;
  LoopSources sources;
  const std::byte* uniforms = nullptr;  ///< invariant words, then tables
  std::size_t vectors = 0;              ///< work items of an instance
  std::size_t live = 0;                 ///< lanes of an instance that count
  NearSources* near = nullptr;          ///< selects sources for each call; null: all of them
};

/// Buffers of calls, reused.
struct CallBuffers {
  LaneBytes spills;
  LoopPlanner planner;
};

/// Runs a kernel on its first `count` work items.
void call_kernel(const KernelCalls& calls, std::size_t kernel, std::byte* items, std::size_t count,
                 CallBuffers& buffers);

}  // namespace gdr::native
