// Moving values between the user's arrays and records of link words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdr {

/// What happens to values on their way.
enum class Move : std::uint8_t {
  Words,            ///< 64 bits as they are
  Doubles,          ///< the same, of numbers that have to be finite
  Floats,           ///< 32 bits as they are
  FloatsToDoubles,  ///< widened
  DoublesToFloats,  ///< rounded
};

/// One to four values side by side, in every element of an array and in every record.
struct Column {
  char* data = nullptr;         ///< the first element's
  std::ptrdiff_t stride = 0;    ///< bytes from an element to the next
  std::uint32_t half_word = 0;  ///< place in a record, in 32-bit units
  Move move = Move::Words;
  unsigned width = 1;  ///< more than one: Words and Doubles only
};

/// Appends a column, to the last one if it stands beside that in the array and in the record: the
/// coordinates of a particle move together.
void add_column(std::vector<Column>& columns, const Column& column);

/// Elements first .. first + n - 1 into records, of which `record` is the first, `halves` 32-bit
/// units from one to the next. False if a number is infinite or not a number (all are moved).
bool pack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                  std::uint32_t* record, std::size_t halves) noexcept;
/// The way back; whatever the numbers are.
void unpack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                    const std::uint32_t* record, std::size_t halves) noexcept;

}  // namespace gdr
