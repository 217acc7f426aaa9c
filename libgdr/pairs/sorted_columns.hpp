// Copies of the caller's arrays in the order of lists, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdr/device.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/pairs/pair_lists.hpp"

namespace gdr {

/// Bytes of a number of an array that is bound to a field.
std::size_t number_bytes(HostNumber array, const LinkField& field) noexcept;

/// An array of inputs in the order of lists.
class SortedInput {
 public:
  /// `numbers` of an item, each of so many bytes.
  SortedInput(const NamedInput& given, std::size_t numbers, std::size_t bytes)
      : given_(given), numbers_(numbers), bytes_(bytes) {}
  /// Copies the values of the particles. Throws Error (Input), with name and index, for a number of
  /// the n items that is not finite.
  void copy(std::size_t n, const std::vector<PlacedParticle>& order, unsigned threads);
  /// The copy.
  NamedInput input() const;

 private:
  void check_finite(std::size_t n) const;

  NamedInput given_;
  std::size_t numbers_, bytes_;
  std::vector<std::byte> sorted_;
};

/// An array of results in the order of lists.
class SortedResult {
 public:
  SortedResult(const NamedResult& given, std::size_t numbers, std::size_t bytes, std::size_t n)
      : given_(given), numbers_(numbers), bytes_(bytes), sorted_(n * numbers * bytes) {}
  NamedResult result();
  /// Copies the results to the caller's array.
  void copy_back(const std::vector<PlacedParticle>& order, unsigned threads) const;

 private:
  NamedResult given_;
  std::size_t numbers_, bytes_;
  std::vector<std::byte> sorted_;
};

}  // namespace gdr
