// Where the values of a block are read next.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// The positions of the operations that read each value, and the next of them.
class NextUses {
 public:
  static constexpr std::uint32_t never = ~std::uint32_t{0};

  explicit NextUses(const Block& block);

  std::uint32_t of(ValueId v) const {
    return next_[v] < positions_[v].size() ? positions_[v][next_[v]] : never;
  }
  bool has_any(ValueId v) const { return !positions_[v].empty(); }
  /// Uses up to a position are over.
  void advance(ValueId v, std::uint32_t position) {
    while (of(v) <= position) ++next_[v];
  }

 private:
  void note(ValueId v, std::uint32_t position);

  std::vector<std::vector<std::uint32_t>> positions_;  ///< positions by value, ascending
  std::vector<std::uint32_t> next_;                    ///< index of the next position, by value
};

}  // namespace gdr::jit
