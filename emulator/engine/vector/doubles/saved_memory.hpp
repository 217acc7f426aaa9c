// The broadcast memory as it was before a run that may have to be taken back.
#pragma once

#include <algorithm>

#include "emulator/chip/state.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// What a section may write in the broadcast memory, as it was before. One at a time in a thread.
class SavedMemory {
 public:
  SavedMemory(const DoublesSection& section, BlockState& block, bool elsewhere)
      : section_(section), block_(block), written_(section.writes_memory && !elsewhere) {
    if (!written_) return;
    words_.clear();
    if (section.puts.empty()) words_ = block.bm;
    for (const std::uint32_t at : section.puts) words_.push_back(block.bm[at]);
  }
  void put_back() const {
    if (!written_) return;
    std::uint64_t* const bm = block_.bm.data();  // in place: callers point into it
    if (section_.puts.empty()) std::copy(words_.begin(), words_.end(), bm);
    for (std::size_t k = 0; k < section_.puts.size(); ++k) bm[section_.puts[k]] = words_[k];
  }

 private:
  const DoublesSection& section_;
  BlockState& block_;
  bool written_;
  static inline thread_local LaneMemory words_;
};

}  // namespace gdr
