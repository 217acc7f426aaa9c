// Translation of one section to operations on rows, for single and fused sections.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/engine/vector/doubles/frame_layout.hpp"

namespace gdr {

/// Thrown if a section cannot be translated; holds the reason.
struct Untranslatable {
  std::string why;
};

/// Lanes of a row: the PEs of a block, filled up to whole batches.
constexpr std::uint32_t row_lanes(const Geometry& geometry,
                                  const DoublesKernels& kernels) noexcept {
  return (geometry.pes_per_block + kernels.batch - 1) / kernels.batch * kernels.batch;
}

/// Context of a section in a fused run.
struct Surroundings {
  /// The section behind it: words that are only moved get the form that this uses first.
  std::span<const Instruction> then = {};
  /// By word, what may be assumed of longs from outside; empty: everything.
  struct Granted {
    bool head = true, plus_zero = true;
  };
  std::vector<Granted> granted = {};
};

/// A section that may be repeated: imported words have the same form and state at its beginning and
/// end. Throws Untranslatable.
RowSection translate_section(const std::vector<Instruction>& section, const Geometry& geometry,
                             const DoublesKernels& kernels, bool heads,
                             const Surroundings& around = {});

}  // namespace gdr
