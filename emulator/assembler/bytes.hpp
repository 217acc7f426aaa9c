// Little-endian serialisation, with a bounds-checked reader.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdr {

/// Appends numbers and strings to a byte vector in little-endian order.
class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void put(T value) {
    for (unsigned i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  /// A 32-bit length and the bytes.
  void put_string(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void put_bytes(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// Zeros up to the next multiple of `size`.
  void align(std::size_t size) { bytes_.resize((bytes_.size() + size - 1) / size * size); }

  std::size_t size() const noexcept { return bytes_.size(); }
  std::vector<std::uint8_t> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Reads numbers and strings from a range of bytes. Reads beyond its end call the given function,
/// which must throw. `offset` counts from the start of the file.
class ByteReader {
 public:
  /// Called with the offset and the number of requested bytes.
  using TruncationHandler = void (*)(const std::string& name, std::size_t offset,
                                     std::uint64_t wanted);

  ByteReader(std::span<const std::uint8_t> bytes, const std::string& name, std::size_t offset,
             TruncationHandler on_truncation) noexcept
      : bytes_(bytes), name_(&name), offset_(offset), on_truncation_(on_truncation) {}

  template <std::unsigned_integral T>
  T get() {
    const auto from = get_bytes(sizeof(T));
    T value = 0;
    for (unsigned i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[i]) << (8 * i)));
    }
    return value;
  }
  std::string get_string() {
    const auto from = get_bytes(get<std::uint32_t>());
    return {from.begin(), from.end()};
  }
  std::span<const std::uint8_t> get_bytes(std::uint64_t count) {
    if (count > bytes_.size()) on_truncation_(*name_, offset_, count);
    const auto part = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(part.size());
    offset_ += part.size();
    return part;
  }
  /// A reader of the next `count` bytes, which are skipped here.
  ByteReader part(std::uint64_t count) {
    const std::size_t start = offset_;
    return {get_bytes(count), *name_, start, on_truncation_};
  }
  /// A count of objects of at least `size` bytes each. Fails if they cannot all be present, so that
  /// an invalid length does not cause a large allocation.
  std::uint32_t get_count(std::size_t size) {
    const auto count = get<std::uint32_t>();
    const std::uint64_t wanted = std::uint64_t{count} * size;
    if (wanted > bytes_.size()) on_truncation_(*name_, offset_, wanted);
    return count;
  }

  std::size_t offset() const noexcept { return offset_; }
  std::size_t left() const noexcept { return bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
  const std::string* name_;
  std::size_t offset_;
  TruncationHandler on_truncation_;
};

}  // namespace gdr
