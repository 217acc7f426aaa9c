// j-items as the loop's code reads them, converted from the words in the chips' memories and kept.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/native/group_lanes.hpp"
#include "emulator/engine/native/program.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/port/memory.hpp"

namespace gdr::native {

/// Items that lie one behind the other in a memory.
struct SourceSegment {
  const BoardMemory* memory = nullptr;
  std::uint64_t address = 0, items = 0;
};

/// The j-items of some segments, one behind the other as one list of groups, for the next pass on
/// them. After changes in the memories only what changed is converted. A loop may end behind any
/// stretch of groups: a program that works on several items at a time may finish the last ones in
/// section End, from shorts that are rounded on their way, so that a group of pads ends each
/// stretch.
class LaneSources {
 public:
  static constexpr std::uint64_t stretch = 1024;  ///< groups, whole windows
  static_assert(stretch % SourceWindows::groups == 0);

  LaneSources(const CompiledSection& body, const LoadedProgram& loaded);

  /// Has them converted by the tasks that are appended; `done` is to be called after these.
  void prepare(std::span<const SourceSegment> segments, std::vector<Phase>& phases);
  void done() noexcept { converted_ = true; }
  /// Afterwards: false if they cannot be held (an integer beside floats).
  bool usable() const noexcept { return usable_; }
  const std::byte* groups() const noexcept { return lanes_.data(); }
  std::uint64_t group_count() const noexcept { return groups_; }
  std::uint64_t item_count() const noexcept { return items_; }
  /// Items of some groups: from which on, and how many.
  struct Range {
    std::uint64_t first = 0, count = 0;
  };
  Range items_of(std::uint64_t first_group, std::uint64_t groups) const noexcept;
  std::size_t bytes() const noexcept { return lanes_.size(); }
  /// Of the words that are compared with words of targets.
  const SourceWindows& windows() const noexcept { return windows_; }

 private:
  struct Kept {
    std::uint64_t contents = 0, address = 0, items = 0;
    friend bool operator==(const Kept&, const Kept&) = default;
  };
  std::uint64_t items_a_stretch() const noexcept;
  std::uint64_t group_of(std::uint64_t item) const noexcept;
  std::uint64_t first_item(std::uint64_t group) const noexcept;
  std::uint64_t groups_for(std::uint64_t items) const noexcept;
  static std::optional<WordWay> way_of(const PortField& field, LeafKey key) noexcept;
  bool convert_whole(const std::uint64_t* from, std::uint64_t n, std::byte* to) const;
  void add_changes(std::size_t segment, const Kept& now, std::uint64_t first,
                   std::vector<Range>& ranges);
  void convert(std::uint64_t first_group, std::uint64_t count);
  void convert_some(std::uint64_t first_group, std::uint64_t count);
  const std::uint64_t* records(std::uint64_t first, std::uint64_t count,
                               std::vector<std::uint64_t>& scratch) const;
  void convert_any(const std::uint64_t* records, std::uint64_t items, std::uint64_t groups,
                   std::byte* to);

  void find_ranges(std::uint64_t first_window, std::uint64_t count);

  const CompiledSection& body_;
  const LoadedProgram& loaded_;
  std::vector<GroupWord> words_;
  bool short_way_ = true;  ///< all words have one
  std::optional<GroupLanes> by_eight_;
  std::vector<SourceSegment> segments_;
  std::vector<Kept> kept_;
  std::uint64_t items_ = 0, groups_ = 0;
  std::vector<std::byte, LineAllocator<std::byte>> lanes_;
  SourceWindows windows_;
  bool converted_ = false;
  std::atomic<bool> usable_ = false;
};

}  // namespace gdr::native
