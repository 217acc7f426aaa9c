// Resident j-items: converted from the chips' memories to the lanes that the loop's code reads, and
// cached.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/run/group_numbering.hpp"
#include "emulator/engine/native/run/source_conversion.hpp"
#include "emulator/engine/sources/view_cache.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/port/memory_writes.hpp"

namespace gdr::native {

/// A cache of the j-items of several segments as one list of groups. After changes in the memories
/// only changed items are converted.
class LaneSources {
 public:
  static constexpr std::uint64_t chunk_groups = GroupNumbering::chunk_groups;

  /// Items, or groups.
  using Range = ChangedRange;

  LaneSources(const CompiledSection& body, const LoadedProgram& loaded);

  /// Whether the conversion can complete writes that have begun: each has whole items of one
  /// segment.
  bool may_complete(std::span<const PendingWrite> writes,
                    std::span<const RecordSegment> segments) const noexcept;
  /// Appends the conversion tasks, which also complete these writes; call `done` after them.
  void prepare(std::span<const RecordSegment> segments, std::span<const PendingWrite> writes,
               std::vector<Phase>& phases);
  void done() noexcept { view_.commit(); }
  /// After `done`: false if items cannot be represented (an integer beyond the range of floats).
  bool usable() const noexcept { return usable_; }
  const std::byte* groups() const noexcept { return lanes_.data(); }
  std::span<const std::byte> lanes() const noexcept { return lanes_; }  ///< lanes of all groups
  std::uint64_t group_count() const noexcept { return groups_; }
  std::uint64_t item_count() const noexcept { return view_.items(); }
  /// Items of some groups.
  Range items_of(std::uint64_t first_group, std::uint64_t groups) const noexcept;
  /// The records of a group, completed with pads.
  void copy_group(std::uint64_t group, std::uint64_t* to) const;
  std::size_t group_bytes() const noexcept { return body_.stream_bytes(); }
  /// Revisions of the lanes, and the groups that changed.
  const ChangeLog& changes() const noexcept { return changes_; }
  /// Ranges of the words that are compared with targets.
  const SourceWindows& windows() const noexcept { return windows_; }

 private:
  /// Changed groups first .. end - 1; a task converts those of `windows` windows.
  struct Changed {
    std::uint64_t first, end, windows;
  };
  std::uint64_t window_end(const Changed& changed, std::uint64_t window) const noexcept;
  void complete_writes(std::uint64_t first, std::uint64_t count) const;
  void convert(std::uint64_t first_group, std::uint64_t count, std::vector<std::uint64_t>& scratch);
  void convert_groups(const std::uint64_t* from, std::uint64_t groups, std::byte* to);
  void convert_task(const Changed& changed, std::size_t task);

  const CompiledSection& body_;
  const LoadedProgram& loaded_;
  SourceConversion conversion_;
  GroupNumbering numbering_;
  ViewCache view_;
  std::span<const PendingWrite> writes_;  ///< writes that the last preparation completes
  std::vector<Changed> changed_;          ///< groups that the last preparation converts, by phase
  ChangeLog changes_{encoded_changes};
  std::uint64_t groups_ = 0;
  std::vector<std::byte, LineAllocator<std::byte>> lanes_;
  SourceWindows windows_;
  std::atomic<bool> usable_ = false;
};

}  // namespace gdr::native
