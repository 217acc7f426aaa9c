// Cached knowledge of a board's contents, so that only changes are sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gdr/kernel.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {

/// The part of a matrix that the PEs of a board hold.
struct ResidentTile {
  std::uint64_t owner = 0;       ///< job number of the product; 0: unknown
  std::uint64_t generation = 0;  ///< generation of the factor
  std::size_t row = 0, first = 0;
  friend bool operator==(const ResidentTile&, const ResidentTile&) = default;
};

/// Contents of a board as far as they are known. What a command list is about to change is
/// invalidated before the list is executed and recorded afterwards, so that a failure leaves
/// nothing recorded that the board does not hold.
class BoardContents {
 public:
  /// Whether the chips hold this program, also from another Kernel with the same object.
  bool holds(const Kernel& kernel) const {
    return program_ &&
           (&program_->program() == &kernel.program() || program_->object() == kernel.object());
  }
  /// Records that a program was loaded, which clears the chips and invalidates the memories.
  void loaded(const Kernel& kernel, unsigned chips) {
    invalidate();
    program_ = kernel;
    filled_blocks_.assign(chips, 0);
  }
  /// Records that targets of a job overwrite the contents of the PEs.
  void overwrite_tile(std::size_t blocks) {
    tile = {};
    std::ranges::fill(filled_blocks_, blocks);
  }
  /// Records that the first `blocks` blocks of a chip hold numbers, and returns how many did.
  std::size_t fill_blocks(std::size_t chip, std::size_t blocks) {
    return std::exchange(filled_blocks_[chip], blocks);
  }
  void invalidate() { *this = {}; }

  SourceVersion sources = {};           ///< complete sources in the memories
  PartialSources partial_sources = {};  ///< slices of a version in transfer
  ResidentTile tile = {};

 private:
  std::optional<Kernel> program_;
  std::vector<std::size_t> filled_blocks_;  ///< by chip: number of leading blocks with numbers
};

}  // namespace gdr
