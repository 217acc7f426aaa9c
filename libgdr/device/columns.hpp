// Copies between strided arrays and records of link words, with tests for infinities, NaN, and
// integers that are too long for their variables.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "emulator/host/isa.hpp"

namespace gdr {

/// Accumulates over the bits of doubles or floats whether any was infinite or NaN. Without a branch
/// or a comparison: adding one to an exponent of all ones carries into the sign bit.
template <typename Number>
class FiniteTest {
 public:
  using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;

  void add(Bits number) noexcept { found_ |= (number & exponent) + one; }
  void add(Number number) noexcept { add(std::bit_cast<Bits>(number)); }
  bool all_good() const noexcept { return (found_ & sign) == 0; }

 private:
  static constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  static constexpr Bits one = Bits{1} << (sizeof(Number) == 8 ? 52 : 23);
  static constexpr Bits exponent = sign - one;
  Bits found_ = 0;
};

/// Accumulates whether any integer exceeded the 36 bits of a short.
class ShortIntegerTest {
 public:
  static constexpr std::uint64_t offset = std::uint64_t{1} << 35;  ///< -least
  static constexpr std::uint64_t beyond = ~(2 * offset - 1);

  void add(std::uint64_t integer) noexcept { found_ |= integer + offset; }
  bool all_good() const noexcept { return (found_ & beyond) == 0; }

 private:
  std::uint64_t found_ = 0;
};

/// Accumulates whether any integer exceeded 32 bits.
class IntegerTest {
 public:
  static constexpr std::uint64_t offset = std::uint64_t{1} << 31;  ///< -least

  void add(std::int64_t integer) noexcept {
    found_ |= static_cast<std::uint64_t>(integer) + offset;
  }
  bool all_good() const noexcept { return (found_ & ~(2 * offset - 1)) == 0; }

 private:
  std::uint64_t found_ = 0;
};

/// Conversion of values while they are copied. Column::whole depends on the order.
enum class Move : std::uint8_t {
  Words,            ///< 64 bits, unchanged
  ShortIntegers,    ///< integers of 64 bits, unchanged and checked to have 36 bits
  Doubles,          ///< doubles, unchanged and checked to be finite
  Floats,           ///< 32 bits, unchanged
  FloatsToDoubles,  ///< floats widened to double
  DoublesToFloats,  ///< doubles rounded to float
  IntegersToLong,   ///< integers of 32 bits widened to 64
  LongToIntegers,   ///< integers of 64 bits, narrowed to 32 and checked to fit
};

/// One to four adjacent values in every element of an array and in every record.
struct Column {
  char* data = nullptr;         ///< address of the first element
  std::ptrdiff_t stride = 0;    ///< stride of the array, bytes
  std::uint32_t half_word = 0;  ///< offset in the record, in 32-bit units
  Move move = Move::Words;
  unsigned width = 1;  ///< number of values; more than one only if they are whole

  /// Whether values are 64 bits that stay as they are.
  bool whole() const noexcept { return move <= Move::Doubles; }
};

/// Appends a column, merged into the last one if both are adjacent in the array and in the record,
/// like the coordinates of a particle.
void add_column(std::vector<Column>& columns, const Column& column);

/// The best instruction set of the host.
Isa packing_isa() noexcept;

/// Copies elements first .. first + n - 1 to records, `record` being the first and `halves` their
/// stride in 32-bit units. Returns false if a value must not be there (all are copied). `isa`: one
/// of this host.
bool pack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                  std::uint32_t* record, std::size_t halves, Isa isa = packing_isa()) noexcept;
/// Like pack_records, for the elements with indices index[0] .. index[n - 1].
bool gather_records(const std::vector<Column>& columns, const std::int32_t* index, std::size_t n,
                    std::uint32_t* record, std::size_t halves, Isa isa = packing_isa()) noexcept;
/// Copies records to elements. Returns false if an integer does not fit its element (all are
/// copied); other values are not checked.
bool unpack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                    const std::uint32_t* record, std::size_t halves,
                    Isa isa = packing_isa()) noexcept;

}  // namespace gdr
