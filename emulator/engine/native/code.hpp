// Machine code for a kernel, made at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/engine/native/exclusions.hpp"
#include "emulator/engine/native/lower.hpp"

namespace gdr::native {

/// Where an instance of a kernel keeps one vector of lanes: its inputs, two sets of what a pass
/// hands on, its outputs; in slots of one vector each.
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

/// Numbers of the words that a section reads of the broadcast memory.
struct WordTable {
  std::vector<LeafKey> words;
  /// Number of a word, or how many there are. The delay does not count.
  std::uint32_t number(LeafKey key) const;
  void add(LeafKey key);
};

/// The three or four pieces of a kernel, ready for code.
struct KernelCode {
  ItemLayout layout;
  bool loops = false;
  Segment once, first, loop, last;
  FreeLoop free;                            ///< the loop for passes that leave out no pair
  std::vector<std::uint32_t> carried_slot;  ///< input slot of each carried location
  std::vector<Take> inputs;
  std::vector<std::uint32_t> input_offset;  ///< where an input stands in a work item at first
};

/// items: `copies` work items, one behind the other; source: words of the first group; uniforms:
/// words that do not move; passes: 1 or more; spills: memory for values that find no register;
/// runs: how passes 1 .. passes - 2 are done, for kernels that have a free loop (plan_runs).
/// Everything begins at a multiple of the vector's size but the words.
using KernelFunction = void (*)(std::byte* items, const std::byte* source,
                                const std::byte* uniforms, std::uint64_t passes, std::byte* spills,
                                const LoopRun* runs);

/// A function in executable memory, freed with the last owner.
struct CompiledKernel {
  KernelFunction function = nullptr;
  std::uint32_t copies = 1;  ///< work items that it takes at once
  std::size_t bytes = 0;
  std::size_t spill_bytes = 0;
  std::shared_ptr<const void> owner;
};

/// Work items that a function takes at once, at most.
constexpr std::uint32_t most_copies = 2;

/// Makes machine code for Avx2 or Avx512 (the host need not have it). `source_words` and
/// `uniform_words` are complete: groups of source words stand one behind the other. `copies`: work
/// items that the function takes at once; 0: as many as run fastest. Every number gives the same
/// bits. Throws Unsupported if the operating system gives no executable memory.
CompiledKernel compile_kernel(const KernelCode& code, Target target, const WordTable& source_words,
                              const WordTable& uniform_words, std::uint32_t copies = 0);

}  // namespace gdr::native
