// Numbered keys, sorted in threads.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

namespace gdr::tree {

/// A key of at most `key_size` bits, and the number of its particle.
struct Keyed {
  std::uint64_t key;
  std::uint32_t number;
  friend auto operator<=>(const Keyed&, const Keyed&) = default;
};
constexpr unsigned key_size = 63;

/// Sorts by keys. Items with equal keys, whose numbers must rise, stay in that order: the result
/// does not depend on the number of threads.
void sort_keys(std::span<Keyed> items, unsigned threads);

}  // namespace gdr::tree
