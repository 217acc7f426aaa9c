// Whole groups of j-items to lanes of doubles, eight words at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdr::native {

/// How a word of a record becomes what the loop's code finds beside doubles: a double, one that has
/// been rounded to a short, or the bits of a short integer at the top.
enum class WordWay : std::uint8_t { Long, Short, Integer };

/// One lane: which of the 64-bit words of a group's records it comes from.
struct GroupWord {
  WordWay way = WordWay::Long;
  std::uint32_t from = 0;
};

/// The order in which words of groups become lanes, made once and used for many groups. Only on
/// hosts with AVX-512.
class GroupLanes {
 public:
  /// `from_words`: words of a group's records.
  GroupLanes(std::span<const GroupWord> words, std::uint32_t from_words);

  /// n groups of records, side by side, to lanes that are side by side, too.
  void convert(const std::uint64_t* from, std::size_t n, std::uint64_t* to) const noexcept;

 private:
  /// Eight words of the records that some lanes come from.
  struct Part {
    std::uint32_t first = 0;
    std::uint8_t there = 0;  ///< which of the eight are the group's
    std::uint8_t taken = 0;  ///< lanes that come from them
    std::array<std::uint64_t, 8> index{};
  };
  /// Eight lanes.
  struct Chunk {
    std::uint32_t first = 0;
    std::uint8_t lanes = 0, integers = 0;
    /// For rounding to shorts: half of a short's last place, that place's bit, and what is kept;
    /// in other lanes they change nothing.
    std::array<std::uint64_t, 8> half{}, odd{}, keep{};
    std::vector<Part> parts;
  };

  template <unsigned count>
  void convert_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                     std::uint64_t* to) const noexcept;

  std::vector<Chunk> chunks_;
  std::uint32_t from_words_, to_words_;
};

}  // namespace gdr::native
