// Revisions of data, and what changed from one to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdr {

/// A state of some data, unique in the process: data of equal revisions are equal. 0 is the initial
/// state (no data, or zeros).
using Revision = std::uint64_t;
/// A revision that nothing has yet. All revisions come from here.
Revision next_revision() noexcept;

/// Consecutive elements: words, items or groups.
struct ChangedRange {
  std::uint64_t first = 0, count = 0;
  constexpr std::uint64_t end() const noexcept { return first + count; }
  friend bool operator==(const ChangedRange&, const ChangedRange&) = default;
};

/// The revision of some data with the ranges that its last changes wrote. What was derived from an
/// earlier revision is brought up to date by deriving these ranges again.
class ChangeLog {
 public:
  /// `capacity`: number of changes after which the older half is forgotten.
  explicit ChangeLog(std::size_t capacity) : capacity_(capacity) {}

  Revision revision() const noexcept { return revision_; }
  /// These elements have changed.
  void add(ChangedRange range);
  /// All elements may have changed: nothing is known of earlier revisions.
  void restart();
  /// The same with another capacity.
  void restart(std::size_t capacity);
  /// Appends what has changed since a revision, in the order of the changes. False if that is not
  /// known: then all elements may have changed.
  bool changes_since(Revision revision, std::vector<ChangedRange>& ranges) const;

 private:
  struct Change {
    Revision revision;  ///< revision after the change
    ChangedRange range;
  };

  std::size_t capacity_;
  Revision base_ = 0;            ///< revision before the first change of the list
  Revision revision_ = 0;        ///< revision now
  std::vector<Change> changes_;  ///< last changes, in their order
};

}  // namespace gdr
