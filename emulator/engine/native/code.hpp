// Machine code of a kernel, generated at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/engine/native/lower.hpp"
#include "emulator/engine/native/unguarded_loop.hpp"

namespace gdr::native {

/// Memory layout of a work item (one vector of lanes of an instance): inputs, two sets of
/// loop-carried values, outputs; slots of one vector each.
struct ItemLayout {
  std::uint32_t vector_bytes = 64;
  std::uint32_t inputs = 0, carried = 0, outputs = 0;

  std::uint32_t input(std::uint32_t n) const noexcept { return n * vector_bytes; }
  std::uint32_t set(std::uint32_t number) const noexcept {
    return (inputs + number * carried) * vector_bytes;
  }
  std::uint32_t output(std::uint32_t n) const noexcept {
    return (inputs + 2 * carried + n) * vector_bytes;
  }
  std::uint32_t bytes() const noexcept { return (inputs + 2 * carried + outputs) * vector_bytes; }
};

/// Indices of the broadcast memory words that a section reads.
struct WordTable {
  std::vector<LeafKey> words;
  /// Index of a word, ignoring its delay; the number of words if it is absent.
  std::uint32_t number(LeafKey key) const;
  void add(LeafKey key);
};

/// The segments of a kernel, ready for code generation.
struct KernelCode {
  ItemLayout layout;
  bool loops = false;
  Segment once, first, loop, last;
  UnguardedLoop free;                       ///< the loop without rare conditions
  std::vector<std::uint32_t> carried_slot;  ///< input slot of each loop-carried location
  std::vector<Take> inputs;
  std::vector<std::uint32_t> input_offset;  ///< initial offset of an input in a work item
};

/// items: `copies` consecutive work items; source: words of the first group; uniforms:
/// loop-invariant words; passes: 1 or more; spills: spill area; runs: schedule of passes 1 ..
/// passes - 2 for kernels with an unguarded loop (plan_loop_runs). All but the words are aligned to
/// the vector size.
using KernelFunction = void (*)(std::byte* items, const std::byte* source,
                                const std::byte* uniforms, std::uint64_t passes, std::byte* spills,
                                const LoopRun* runs);

/// A function in executable memory, freed with the last owner.
struct CompiledKernel {
  KernelFunction function = nullptr;
  std::uint32_t copies = 1;  ///< work items per call
  std::size_t bytes = 0;
  std::size_t spill_bytes = 0;
  std::shared_ptr<const void> owner;
};

/// Maximum number of work items per call.
constexpr std::uint32_t max_copies = 2;

/// Generates machine code for Avx2 or Avx512 (the host need not support it). `source_words` and
/// `uniform_words` are complete: groups of source words are consecutive. `copies`: work items per
/// call; 0: the fastest number. Results do not depend on it. Throws Unsupported if the operating
/// system gives no executable memory.
CompiledKernel compile_kernel(const KernelCode& code, Target target, const WordTable& source_words,
                              const WordTable& uniform_words, std::uint32_t copies = 0);

}  // namespace gdr::native
