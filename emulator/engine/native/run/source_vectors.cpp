#include "emulator/engine/native/run/source_vectors.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/host/for_each_isa.hpp"

namespace gdr::native {
namespace {

/// Rows of a window, and windows of a task: some tens of kilobytes.
constexpr std::uint64_t window_rows = SourceWindows::groups, windows_a_task = 4;

std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// Words of lanes, which are stored as vectors.
using Word64 [[gnu::may_alias]] = std::uint64_t;
using Word32 [[gnu::may_alias]] = std::uint32_t;

/// Rows of so many lanes from consecutive groups of `words` words. Word by word of some rows, which
/// the nearest cache holds: compilers make that faster than row by row.
template <std::size_t lanes, typename Word>
[[gnu::always_inline]] inline void turn(const Word* from, std::size_t words, std::uint64_t rows,
                                        Word* to) {
  constexpr std::uint64_t rows_at_once = 16;
  const std::size_t row = lanes * words;
  for (std::uint64_t first = 0; first < rows; first += rows_at_once) {
    const std::uint64_t some = std::min(rows_at_once, rows - first);
    for (std::size_t w = 0; w < words; ++w) {
      const Word* a = from + first * row + w;
      Word* b = to + first * row + w * lanes;
      for (std::uint64_t r = 0; r < some; ++r, a += row, b += row)
        for (std::size_t l = 0; l < lanes; ++l) b[l] = a[l * words];
    }
  }
}
template <typename Word>
[[gnu::always_inline]] inline void turn_any(const Word* from, std::size_t words, std::size_t lanes,
                                            std::uint64_t rows, Word* to) {
  if (lanes == 2) return turn<2>(from, words, rows, to);
  if (lanes == 4) return turn<4>(from, words, rows, to);
  if (lanes == 8) return turn<8>(from, words, rows, to);
  if (lanes == 16) return turn<16>(from, words, rows, to);
  turn<32>(from, words, rows, to);
}
GDR_FOR_EACH_ISA void turn_rows(const Word64* from, std::size_t words, std::size_t lanes,
                                std::uint64_t rows, Word64* to) {
  turn_any(from, words, lanes, rows, to);
}
GDR_FOR_EACH_ISA void turn_rows(const Word32* from, std::size_t words, std::size_t lanes,
                                std::uint64_t rows, Word32* to) {
  turn_any(from, words, lanes, rows, to);
}

}  // namespace

SourceVectors::SourceVectors(const CompiledSection& body, const LaneSources& sources,
                             std::uint32_t group)
    : body_(body), sources_(sources), lanes_(body.target().lanes()), fills_rows_(group > 1) {
  windows_.words = body.compared_words();
  windows_.ranges.resize(windows_.words.size());
}

/// Behind the groups of a part comes its last one, repeatedly.
std::uint64_t SourceVectors::group_of(const Part& part, std::uint64_t row,
                                      std::uint64_t lane) const noexcept {
  return part.groups.first + std::min(row * lanes_ + lane, part.groups.count - 1);
}

void SourceVectors::place(std::span<const Range> parts) {
  placed_.assign(parts.begin(), parts.end());
  parts_.clear();
  std::uint64_t rows = 0;
  for (const Range& groups : parts) {
    parts_.push_back({groups, rows, rows_for(groups.count)});
    rows += quotient_up(parts_.back().rows, window_rows) * window_rows;
  }
  const std::size_t bytes = rows * lanes_ * body_.stream_bytes();
  if (rows_.size() < bytes) rows_.resize(bytes);
  is_changed_.assign(rows / window_rows, 1);
  for (SourceWindows::Ranges& ranges : windows_.ranges) {
    ranges.least.resize(is_changed_.size());
    ranges.most.resize(is_changed_.size());
  }
}

/// Marks the windows of rows with these groups of the sources.
void SourceVectors::mark_changes(std::span<const Range> groups) {
  std::ranges::fill(is_changed_, std::uint8_t{0});
  for (const Part& part : parts_)
    for (const Range& changed : groups) {
      const std::uint64_t begin = std::max(changed.first, part.groups.first);
      const std::uint64_t end =
          std::min(changed.first + changed.count, part.groups.first + part.groups.count);
      if (begin >= end) continue;
      const std::uint64_t first = (begin - part.groups.first) / lanes_;
      const bool with_last = end == part.groups.first + part.groups.count;
      const std::uint64_t last = with_last ? part.rows - 1 : (end - 1 - part.groups.first) / lanes_;
      const auto at =
          is_changed_.begin() + static_cast<std::ptrdiff_t>(part.first_row / window_rows);
      std::fill(at + static_cast<std::ptrdiff_t>(first / window_rows),
                at + static_cast<std::ptrdiff_t>(last / window_rows) + 1, std::uint8_t{1});
    }
}

void SourceVectors::prepare(std::span<const Range> parts, std::vector<Phase>& phases) {
  const bool same_parts = std::ranges::equal(parts, placed_, [](const Range& a, const Range& b) {
    return a.first == b.first && a.count == b.count;
  });
  const ChangeLog& log = sources_.changes();
  if (made_ && same_parts && revision_ == log.revision()) return;
  changed_groups_.clear();
  if (made_ && same_parts && log.changes_since(revision_, changed_groups_))
    mark_changes(changed_groups_);
  else
    place(parts);
  revision_ = log.revision();
  made_ = false;
  changed_.clear();
  for (std::uint64_t w = 0; w < is_changed_.size(); ++w)
    if (is_changed_[w] != 0) changed_.push_back(w);
  phases.push_back({quotient_up(changed_.size(), windows_a_task), [this](std::size_t task) {
                      const std::uint64_t first = task * windows_a_task;
                      const std::uint64_t end =
                          std::min<std::uint64_t>(changed_.size(), first + windows_a_task);
                      for (std::uint64_t k = first; k < end; ++k) make_window(changed_[k]);
                    }});
}

void SourceVectors::make_window(std::uint64_t window) {
  const std::uint64_t row = window * window_rows;
  const auto part = std::ranges::upper_bound(parts_, row, {}, &Part::first_row) - 1;
  const std::size_t words = body_.source_words().words.size();
  const std::size_t lane = body_.target().lane_bytes(), bytes = words * lane;
  const std::uint64_t first = row - part->first_row;
  const std::uint64_t end = std::min(first + window_rows, part->rows);
  const std::uint64_t whole = std::clamp(part->groups.count / lanes_, first, end);
  const std::byte* const from = sources_.groups() + (part->groups.first + first * lanes_) * bytes;
  std::byte* to = rows_.data() + row * lanes_ * bytes;
  if (lane == sizeof(Word64))
    turn_rows(reinterpret_cast<const Word64*>(from), words, lanes_, whole - first,
              reinterpret_cast<Word64*>(to));
  else
    turn_rows(reinterpret_cast<const Word32*>(from), words, lanes_, whole - first,
              reinterpret_cast<Word32*>(to));
  to += (whole - first) * lanes_ * bytes;
  for (std::uint64_t r = whole; r < end; ++r, to += lanes_ * bytes)
    for (std::uint64_t l = 0; l < lanes_; ++l) {
      const std::byte* const at = sources_.groups() + group_of(*part, r, l) * bytes;
      for (std::size_t w = 0; w < words; ++w)
        std::memcpy(to + (w * lanes_ + l) * lane, at + w * lane, lane);
    }
  find_ranges(*part, window);
}

/// From those of the windows of groups.
void SourceVectors::find_ranges(const Part& part, std::uint64_t window) {
  const std::uint64_t first_group = part.groups.first / SourceWindows::groups;
  const std::uint64_t last = (part.groups.first + part.groups.count - 1) / SourceWindows::groups;
  const std::uint64_t begin =
      std::min(last, first_group + (window - part.first_row / window_rows) * lanes_);
  const std::uint64_t end = std::min(last + 1, begin + lanes_);
  for (std::size_t w = 0; w < windows_.ranges.size(); ++w) {
    const SourceWindows::Ranges& of_groups = sources_.windows().ranges[w];
    const auto at = [](const std::vector<std::int64_t>& v, std::uint64_t k) {
      return v.begin() + static_cast<std::ptrdiff_t>(k);
    };
    windows_.ranges[w].least[window] =
        *std::min_element(at(of_groups.least, begin), at(of_groups.least, end));
    windows_.ranges[w].most[window] =
        *std::max_element(at(of_groups.most, begin), at(of_groups.most, end));
  }
}

PackedSources SourceVectors::part(std::size_t number) const {
  const Part& part = parts_[number];
  PackedSources sources;
  sources.groups = rows_.data() + part.first_row * lanes_ * body_.stream_bytes();
  sources.count = part.rows;
  sources.vectors = true;
  sources.windows = &windows_;
  sources.first_window = part.first_row / window_rows;
  return sources;
}

}  // namespace gdr::native
