// Resident sources as vectors, for fewer targets than a vector has lanes: each lane has sources of
// its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/run/lane_sources.hpp"

namespace gdr::native {

/// Rows of vectors that are made from the lanes of LaneSources: a row has one group of sources for
/// each lane, word by word. A part is a run of groups; its row r has group r * lanes + l in lane l.
/// Where programs have several items in a group, rows are filled with the part's last group, which
/// consists of pads, and the last row consists of nothing else: with it the loop completes the
/// sources of all lanes. Otherwise parts have whole rows only.
class SourceVectors {
 public:
  using Range = LaneSources::Range;

  SourceVectors(const CompiledSection& body, const LaneSources& sources, std::uint32_t group);

  /// Lanes of a row.
  std::uint64_t lanes() const noexcept { return lanes_; }
  /// Groups of sources that fill no row, at the end of so many.
  std::uint64_t left_over(std::uint64_t groups) const noexcept {
    return fills_rows_ ? 0 : groups % lanes_;
  }
  /// Rows of a part.
  std::uint64_t rows_for(std::uint64_t groups) const noexcept {
    return fills_rows_ ? (groups + lanes_ - 1) / lanes_ + 1 : groups / lanes_;
  }
  /// Appends the tasks that make the rows of changed groups, after those of LaneSources::prepare;
  /// call `done` after them. Parts begin at windows of the sources.
  void prepare(std::span<const Range> parts, std::vector<Phase>& phases);
  void done() noexcept { made_ = true; }
  /// The rows of a part, without last groups.
  PackedSources part(std::size_t number) const;

 private:
  struct Part {
    Range groups;
    std::uint64_t first_row = 0, rows = 0;  ///< begins at a window
  };
  std::uint64_t group_of(const Part& part, std::uint64_t row, std::uint64_t lane) const noexcept;
  void place(std::span<const Range> parts);
  void mark_changes(std::span<const Range> groups);
  void make_window(std::uint64_t window);
  void find_ranges(const Part& part, std::uint64_t window);

  const CompiledSection& body_;
  const LaneSources& sources_;
  const std::uint64_t lanes_;
  const bool fills_rows_;
  std::vector<Part> parts_;
  std::vector<Range> placed_;  ///< the parts' groups
  std::vector<std::byte, LineAllocator<std::byte>> rows_;
  SourceWindows windows_;                 ///< ranges by window of rows
  std::vector<std::uint8_t> is_changed_;  ///< whether the groups of a window changed
  std::vector<std::uint64_t> changed_;    ///< windows that the tasks make
  Revision revision_ = 0;                 ///< revision of the sources
  std::vector<Range> changed_groups_;     ///< changed groups; a member to keep its memory
  bool made_ = false;
};

}  // namespace gdr::native
