// A copy of the broadcast memory, to roll back a failed run.
#pragma once

#include <algorithm>

#include "emulator/chip/state.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// Saves the words that a section may write in the broadcast memory. One instance at a time per
/// thread.
class SavedMemory {
 public:
  SavedMemory(const DoublesSection& section, BlockState& block, bool elsewhere)
      : section_(section), block_(block), written_(section.writes_memory && !elsewhere) {
    if (!written_) return;
    words_.clear();
    if (section.bm_stores.empty()) words_ = block.bm;
    for (const std::uint32_t at : section.bm_stores) words_.push_back(block.bm[at]);
  }
  void put_back() const {
    if (!written_) return;
    std::uint64_t* const bm = block_.bm.data();  // in place: callers point into it
    if (section_.bm_stores.empty()) std::copy(words_.begin(), words_.end(), bm);
    for (std::size_t k = 0; k < section_.bm_stores.size(); ++k)
      bm[section_.bm_stores[k]] = words_[k];
  }

 private:
  const DoublesSection& section_;
  BlockState& block_;
  bool written_;
  static inline thread_local LaneMemory words_;
};

}  // namespace gdr
