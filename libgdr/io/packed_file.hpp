// Files of numbers at known places, of either byte order: what the binary formats of other codes
// have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>

#include "libgdr/io/stored_file.hpp"

namespace gdr {

enum class ByteOrder { Little, Big };

/// The bytes of a regular file.
class ByteFile {
 public:
  /// Throws Error (Io) if the file cannot be opened.
  explicit ByteFile(const std::string& path);
  ~ByteFile();
  ByteFile(ByteFile&& other) noexcept;
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }
  /// Fills `to` with the bytes from `offset` on. Throws Error (Io) if the file cannot be read, and
  /// Error (Input) if it ends before.
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  /// The number at a place.
  template <typename Number>
  Number number(std::uint64_t offset, ByteOrder order) const;

 private:
  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
};

/// The number in the first bytes of `from`.
template <typename Number>
Number number_in(std::span<const std::byte> from, ByteOrder order) {
  static_assert(std::is_arithmetic_v<Number>);
  using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
  static_assert(sizeof(Bits) == sizeof(Number));
  Bits bits = 0;
  for (std::size_t k = 0; k < sizeof(Bits); ++k) {
    const std::size_t place = order == ByteOrder::Little ? k : sizeof(Bits) - 1 - k;
    bits |= static_cast<Bits>(from[k]) << (8 * place);
  }
  return __builtin_bit_cast(Number, bits);
}

template <typename Number>
Number ByteFile::number(std::uint64_t offset, ByteOrder order) const {
  std::byte bytes[sizeof(Number)];
  read(offset, bytes);
  return number_in<Number>(bytes, order);
}

/// Where the numbers of a dataset are: rows of `width` adjacent numbers, at equal distances.
struct PackedDataset {
  std::uint64_t offset = 0;  ///< place of the first row, in bytes
  std::uint64_t stride = 0;  ///< distance from a row to the next, in bytes
  std::size_t rows = 0, width = 1;
  std::size_t number_size = 4;  ///< bytes of a number, 4 or 8
  NumberClass number_class = NumberClass::Float;
};

/// A file whose datasets and header were found when it was opened.
class PackedFile final : public StoredFile {
 public:
  using Datasets = std::map<std::string, PackedDataset>;
  using Header = std::map<std::string, std::vector<double>>;

  /// Throws Error (Input) if a dataset goes beyond the end of the file.
  PackedFile(ByteFile file, ByteOrder order, Datasets datasets, Header header);

  bool has(const std::string& path) const override;
  Shape shape(const std::string& dataset) const override;
  NumberClass number_class(const std::string& dataset) const override;
  void check(const std::string& dataset) const override;
  void read(const std::string& dataset, std::span<double> to) const override;
  void read(const std::string& dataset, std::span<std::uint64_t> to, bool as_signed) const override;
  std::optional<std::vector<double>> attribute(const std::string& object,
                                               const std::string& name) const override;

 private:
  const PackedDataset& find(const std::string& dataset) const;

  ByteFile file_;
  ByteOrder order_;
  Datasets datasets_;
  Header header_;
};

}  // namespace gdr
