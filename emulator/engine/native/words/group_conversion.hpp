// Conversion of records of sources to the lanes that the loop's code reads, many groups at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Conversion of a record's word to a lane: a double, what it has beyond the float next to it, a
/// double rounded to a short, or a short integer. A lane of code on doubles has the integer's bits
/// at the top, and no rest; code on floats rounds numbers to floats, and has integers of 32 bits.
enum class WordConversion : std::uint8_t { Long, Rest, Short, Integer };

/// Source of a lane: a 64-bit word of a group's records.
struct GroupWord {
  WordConversion conversion = WordConversion::Long;
  std::uint32_t from = 0;
};

/// Words of a group's records in the order of its lanes. Prepared once for many groups.
struct GroupLayout {
  std::span<const GroupWord> words;
  std::uint32_t from_words = 0;  ///< words of a group's records
  Precision precision = Precision::Double;
};

class GroupConversion {
 public:
  virtual ~GroupConversion() = default;
  /// Converts n consecutive groups of records to consecutive lanes. False if an integer exceeds the
  /// 32 bits of a float lane. The float mode must be MachineFloatMode's.
  virtual bool convert(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept = 0;
};

/// The conversion with the instructions of a host; all give the same lanes.
std::unique_ptr<GroupConversion> make_group_conversion(const GroupLayout& layout, Isa isa);

/// Null if the host's compiler lacks the instructions.
std::unique_ptr<GroupConversion> make_avx2_group_conversion(const GroupLayout& layout);
std::unique_ptr<GroupConversion> make_avx512_group_conversion(const GroupLayout& layout);

}  // namespace gdr::native
