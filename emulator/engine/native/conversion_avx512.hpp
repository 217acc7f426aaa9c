// Conversion of words to lanes of doubles or floats and back, eight at a time, on hosts with
// AVX-512.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/word_conversion.hpp"

namespace gdr::native {

/// Conversion of a record's word to a lane: a double, a double rounded to a short, or a short
/// integer. A lane of code on doubles has the integer's bits at the top; code on floats rounds
/// numbers to floats, and has integers of 32 bits.
enum class WordConversion : std::uint8_t { Long, Short, Integer };

/// Source of a lane: a 64-bit word of a group's records.
struct GroupWord {
  WordConversion conversion = WordConversion::Long;
  std::uint32_t from = 0;
};

/// A permutation of words of groups to lanes, prepared once for many groups.
class GroupLanes {
 public:
  /// `from_words`: words of a group's records.
  GroupLanes(std::span<const GroupWord> words, std::uint32_t from_words, Precision precision);

  /// Converts n consecutive groups of records to consecutive lanes. False if an integer exceeds the
  /// 32 bits of a float lane.
  bool convert(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept;

 private:
  /// Eight consecutive words of the records.
  struct Part {
    std::uint32_t first = 0;
    std::uint8_t valid = 0;  ///< mask of valid words
    std::uint8_t lanes = 0;  ///< mask of lanes read from them
    std::array<std::uint64_t, 8> index{};
  };
  /// Eight lanes.
  struct Chunk {
    std::uint32_t first = 0;
    std::uint8_t lanes = 0, integers = 0;
    /// Constants for rounding to shorts: half of the last place, the bit of that place, and the
    /// mask of kept bits; neutral in other lanes.
    std::array<std::uint64_t, 8> half{}, odd{}, keep{};
    std::vector<Part> parts;
  };

  template <typename Lane>
  bool convert_chunks(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept;
  template <unsigned count, typename Lane>
  bool convert_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                     std::byte* to) const noexcept;

  std::vector<Chunk> chunks_;
  std::uint32_t from_words_, to_words_;
  Precision precision_;
};

/// words_to_lanes and lanes_to_row for all rows of the state. Lanes without a PE become zero. False
/// if an integer exceeds the 32 bits of a float lane.
bool rows_to_lanes_avx512(std::span<const RowTransfer> rows, Precision precision,
                          const BlockState& block, const WorkItems& items) noexcept;
void lanes_to_rows_avx512(std::span<const RowTransfer> rows, Precision precision,
                          const WorkItems& items, BlockState& block) noexcept;

}  // namespace gdr::native
