// Translating one section, as far as its rows: what sections alone and in a row have in common.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/engine/vector/doubles/lay_out.hpp"

namespace gdr {

/// Thrown where a section cannot be translated; the text says why.
struct Unusable {
  std::string why;
};

/// Lanes of a row: the PEs of a block, filled up to whole batches.
constexpr std::uint32_t row_lanes(const Geometry& geometry,
                                  const DoublesKernels& kernels) noexcept {
  return (geometry.pes_per_block + kernels.batch - 1) / kernels.batch * kernels.batch;
}

/// What stands around a section, where it is not to be taken alone.
struct Surroundings {
  /// The section behind it: words that are only moved get the form that this uses first.
  std::span<const Instruction> then = {};
  /// By word, what may be taken for granted of longs from outside; empty: everything.
  struct Granted {
    bool head = true, plus_zero = true;
  };
  std::vector<Granted> granted = {};
};

/// A section that may be gone through again and again: words that it imports have the same form,
/// and what is known of them holds, at its beginning and its end. Throws
/// Unusable.
RowSection translate_section(const std::vector<Instruction>& section, const Geometry& geometry,
                             const DoublesKernels& kernels, bool heads,
                             const Surroundings& around = {});

}  // namespace gdr
