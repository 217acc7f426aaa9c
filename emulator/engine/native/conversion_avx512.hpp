// Conversion of words to lanes of doubles and back, eight at a time, on hosts with AVX-512.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/word_conversion.hpp"

namespace gdr::native {

/// Conversion of a record's word for code on doubles: a double, a double rounded to a short, or the
/// bits of a short integer at the top.
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
  GroupLanes(std::span<const GroupWord> words, std::uint32_t from_words);

  /// Converts n consecutive groups of records to consecutive lanes.
  void convert(const std::uint64_t* from, std::size_t n, std::uint64_t* to) const noexcept;

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

  template <unsigned count>
  void convert_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                     std::uint64_t* to) const noexcept;

  std::vector<Chunk> chunks_;
  std::uint32_t from_words_, to_words_;
};

/// words_to_lanes and lanes_to_row for all rows of the state. Lanes without a PE become zero.
void rows_to_lanes_avx512(std::span<const RowTransfer> rows, const BlockState& block,
                          const WorkItems& items) noexcept;
void lanes_to_rows_avx512(std::span<const RowTransfer> rows, const WorkItems& items,
                          BlockState& block) noexcept;

}  // namespace gdr::native
