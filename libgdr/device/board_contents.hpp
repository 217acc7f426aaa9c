// What a board is known to hold, so that only what changed is sent to it.
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
  std::uint64_t owner = 0;       ///< number of the product among the device's jobs; 0: unknown
  std::uint64_t generation = 0;  ///< of the factor
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
  /// A program was loaded, which clears the chips; the words in the memories have no meaning for
  /// it.
  void loaded(const Kernel& kernel, unsigned chips) {
    invalidate();
    program_ = kernel;
    filled_blocks_.assign(chips, 0);
  }
  /// Targets of a job were written over whatever the PEs held.
  void overwrite_tile(std::size_t blocks) {
    tile = {};
    std::ranges::fill(filled_blocks_, blocks);
  }
  /// Records that the first `blocks` blocks of a chip hold numbers, and returns how many did.
  std::size_t fill_blocks(std::size_t chip, std::size_t blocks) {
    return std::exchange(filled_blocks_[chip], blocks);
  }
  void invalidate() { *this = {}; }

  SourceVersion sources = {};           ///< in the memories, complete
  PartialSources partial_sources = {};  ///< slices of the version that is being sent
  ResidentTile tile = {};

 private:
  std::optional<Kernel> program_;
  std::vector<std::size_t> filled_blocks_;  ///< by chip: blocks, the first ones, with numbers
};

}  // namespace gdr
