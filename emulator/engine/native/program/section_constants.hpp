// Words that a section sets to constants, and those that the section before it has set.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "emulator/engine/native/translate/kernel.hpp"

namespace gdr::native {

/// A short of a PE's state: a cell, or a mask of an element.
struct StatePlace {
  bool mask = false;
  std::uint32_t number = 0;
  friend auto operator<=>(const StatePlace&, const StatePlace&) = default;
};
/// The places of a word.
std::vector<StatePlace> places_of(LeafKey key);

/// A root that is equal in all PEs, or a part of a BM store.
struct ConstantRoot {
  LeafKey key;
  std::uint64_t upper = 0, lower = 0;
};

/// Constants of the section that precedes another one in a fused run: they need not go through the
/// state.
class PreviousConstants {
 public:
  PreviousConstants() = default;
  /// `kernels`, `moves`: of the later section.
  PreviousConstants(const std::vector<ConstantRoot>& constants, const std::vector<Kernel>& kernels,
                    const std::vector<MovedShort>& moves);

  /// Whether an input is such a constant.
  bool contains(LeafKey key) const;
  /// The shorts of such an input; of a word of one short twice the same.
  ConstantRoot word(LeafKey key) const;
  /// Constants that must be stored to the state nevertheless.
  const std::vector<ConstantRoot>& unfused() const noexcept { return unfused_; }

 private:
  std::map<StatePlace, std::uint64_t> shorts_;
  std::vector<ConstantRoot> unfused_;
};

}  // namespace gdr::native
