#include "libgdr/pairs/sorted_columns.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "emulator/host/for_blocks.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Distance of the items of an array, bytes.
template <typename Array>
std::ptrdiff_t item_step(const Array& array, std::size_t numbers) noexcept {
  return array.item_stride != 0 ? array.item_stride
                                : static_cast<std::ptrdiff_t>(numbers) * array.stride;
}

/// Calls copy(size) with the size of numbers as a constant that the compiler knows.
template <typename Copy>
void with_size(std::size_t bytes, const Copy& copy) {
  if (bytes == 4) return copy(std::integral_constant<std::size_t, 4>());
  if (bytes == 8) return copy(std::integral_constant<std::size_t, 8>());
  copy(std::integral_constant<std::size_t, 16>());
}

/// An array as given, but of the sorted numbers, which lie one after the other.
template <typename Named, typename Bytes>
Named without_gaps(Named array, Bytes& sorted, std::size_t numbers, std::size_t bytes) {
  array.array.data = sorted.data();
  array.array.stride = static_cast<std::ptrdiff_t>(bytes);
  array.array.item_stride = static_cast<std::ptrdiff_t>(numbers * bytes);
  array.array.size = sorted.size() / bytes;
  array.array.row = 0;
  return array;
}

}  // namespace

std::size_t number_bytes(HostNumber array, const LinkField& field) noexcept {
  if (field.type == HostNumber::Raw) return field.half_words * sizeof(std::uint32_t);
  return array == HostNumber::F32 || array == HostNumber::I32 ? 4 : 8;
}

void SortedInput::check_finite(std::size_t n) const {
  const HostNumber type = given_.array.type;
  if (type != HostNumber::F64 && type != HostNumber::F32) return;
  const auto* const data = static_cast<const std::byte*>(given_.array.data);
  const std::ptrdiff_t step = item_step(given_.array, numbers_);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t e = 0; e < numbers_; ++e) {
      const std::byte* const at = data + static_cast<std::ptrdiff_t>(k) * step +
                                  static_cast<std::ptrdiff_t>(e) * given_.array.stride;
      double value = 0;
      if (type == HostNumber::F64) {
        std::memcpy(&value, at, sizeof(double));
      } else {
        float narrow = 0;
        std::memcpy(&narrow, at, sizeof(float));
        value = narrow;
      }
      if (!std::isfinite(value))
        throw Error(ErrorCategory::Input, std::string(given_.name) + "[" + std::to_string(k) +
                                              "] is " + std::to_string(value) +
                                              "; values must be finite");
    }
}

void SortedInput::copy(std::size_t n, const std::vector<PlacedParticle>& order, unsigned threads) {
  check_finite(n);
  sorted_.resize(order.size() * numbers_ * bytes_);
  const auto* const data = static_cast<const std::byte*>(given_.array.data);
  const std::ptrdiff_t step = item_step(given_.array, numbers_);
  with_size(bytes_, [&](auto size) {
    for_particles(order.size(), threads, [&](std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k)
        for (std::size_t e = 0; e < numbers_; ++e)
          std::memcpy(sorted_.data() + (k * numbers_ + e) * size,
                      data + static_cast<std::ptrdiff_t>(order[k].number) * step +
                          static_cast<std::ptrdiff_t>(e) * given_.array.stride,
                      size);
    });
  });
}

NamedInput SortedInput::input() const { return without_gaps(given_, sorted_, numbers_, bytes_); }

NamedResult SortedResult::result() { return without_gaps(given_, sorted_, numbers_, bytes_); }

void SortedResult::copy_back(const std::vector<PlacedParticle>& order, unsigned threads) const {
  auto* const data = static_cast<std::byte*>(given_.array.data);
  const std::ptrdiff_t step = item_step(given_.array, numbers_);
  with_size(bytes_, [&](auto size) {
    for_particles(order.size(), threads, [&](std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k)
        for (std::size_t e = 0; e < numbers_; ++e)
          std::memcpy(data + static_cast<std::ptrdiff_t>(order[k].number) * step +
                          static_cast<std::ptrdiff_t>(e) * given_.array.stride,
                      sorted_.data() + (k * numbers_ + e) * size, size);
    });
  });
}

}  // namespace gdr
