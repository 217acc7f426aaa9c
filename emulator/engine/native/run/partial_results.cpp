#include "emulator/engine/native/run/partial_results.hpp"

#include <algorithm>
#include <bit>

#include "emulator/chip/reduction.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr::native {

void PartialResults::resize(std::size_t parts, std::uint64_t targets) {
  parts_ = parts;
  targets_ = targets;
  leaves_.resize(parts);
  keys_.resize(parts);
  numbers_.resize(parts);
  if (words_.size() < offset(parts, 0)) words_.resize(offset(parts, 0));
}

void PartialResults::fill_behind(std::size_t first, std::size_t parts, std::uint64_t first_target,
                                 std::uint64_t count) {
  const std::size_t results = results_.size();
  const std::uint64_t* const from = words_.data() + offset(first, first_target);
  for (std::size_t part = first + 1; part < first + parts; ++part) {
    std::uint64_t* const to = words_.data() + offset(part, first_target);
    for (std::uint64_t k = 0; k < count * results; ++k) {
      const Reduce reduce = results_[k % results].reduce;
      const bool adds = reduce == Reduce::Fadd || reduce == Reduce::Iadd || reduce == Reduce::Ixor;
      for (const std::uint64_t half : {2 * k, 2 * k + 1}) to[half] = adds ? 0 : from[half];
    }
  }
}

void PartialResults::read(std::uint64_t target, std::size_t result,
                          std::vector<Long>& leaves) const {
  for (std::size_t part = 0; part < parts_; ++part) {
    const std::uint64_t* const word = words_.data() + offset(part, target) + 2 * result;
    leaves[part] = {u128{word[1]} << 64 | word[0]};
  }
}

Long PartialResults::joined(std::uint64_t target, std::size_t result) {
  Flags ignored = no_flags;
  const PortField& field = results_[result];
  read(target, result, leaves_);
  if (field.reduce == Reduce::Index) {
    const auto key = static_cast<std::size_t>(field.key);
    read(target, key, keys_);
    return reduce_index(results_[key].reduce, keys_, leaves_);
  }
  Long sum;
  if (field.reduce == Reduce::Fadd && add_doubles(sum)) return sum;
  return reduce_tree(field.reduce, leaves_, ignored);
}

/// The leaves in pairs, their sums in pairs, and so on, as reduce_tree does. False if one has more
/// bits than a double.
bool PartialResults::add_doubles(Long& sum) {
  for (std::size_t k = 0; k < parts_; ++k) {
    const u128 bits = leaves_[k].bits;
    if ((bits & ((1U << port::below_double) - 1)) != 0) return false;
    numbers_[k] = std::bit_cast<double>(static_cast<std::uint64_t>(bits >> port::below_double));
  }
  for (std::size_t n = parts_; n > 1; n = (n + 1) / 2) {
    for (std::size_t k = 0; k < n / 2; ++k) numbers_[k] = numbers_[2 * k] + numbers_[2 * k + 1];
    if (n % 2 != 0) numbers_[n / 2] = numbers_[n - 1];
  }
  const auto bits = port::canonical(std::bit_cast<std::uint64_t>(numbers_[0]));
  sum = {u128{bits} << port::below_double};
  return true;
}

}  // namespace gdr::native
