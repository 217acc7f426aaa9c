// Copies of a chip's state at positions of a run, thinned so that their number stays bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdr/machine.hpp"

namespace gdr {

/// Copies in the order of their positions, the first at position 0. When the limit is reached,
/// every second one is removed and the distance of new ones doubles, so that going back repeats at
/// most a small part of the run.
class Checkpoints {
 public:
  struct Entry {
    std::uint64_t position = 0;
    MachineSnapshot snapshot;
  };

  /// Starts with the present state of a chip, at position 0.
  explicit Checkpoints(const Machine& machine);

  /// Adds the state at a position, if it is far enough behind the last one.
  void offer(std::uint64_t position, const Machine& machine);
  /// The last one at or before a position.
  const Entry& before(std::uint64_t position) const noexcept;
  /// The state at this position, which a user has changed, replaces those at and behind it.
  void replace_from(std::uint64_t position, const Machine& machine);

  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::uint64_t distance_;
  std::size_t limit_;
};

}  // namespace gdr
