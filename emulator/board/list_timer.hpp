// The time model applied to command lists: what each command costs on the real board. Commands are
// enough for it: no payload is read and nothing is computed.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/program_timing.hpp"
#include "emulator/board/time_model.hpp"

namespace gdr {

/// Counts the clocks and the bytes of command lists, and the seconds that they take on the real
/// board.
class ListTimer {
 public:
  explicit ListTimer(const Geometry& geometry, const BoardRates& rates = {});

  /// Begins a list; `busy`, if given, receives the busy times.
  void begin(std::vector<BusyTime>* busy = nullptr);
  /// The next command of the list, for chips that hold the program described by `program`.
  void add(const Command& command, const ProgramTiming& program);
  /// The list is complete: its clocks and seconds are added to the counts.
  void end() noexcept;
  /// Seconds of the current list so far.
  double list_seconds() const noexcept { return timeline_.seconds(); }

  /// Since construction or reset. The caller adds interactions and flops.
  WorkCounts& counts() noexcept { return counts_; }
  const WorkCounts& counts() const noexcept { return counts_; }
  void reset() noexcept;

 private:
  void add_clocks(std::uint64_t chips, const ChipClocks& clocks) noexcept;
  void run(const Command& command, const ProgramTiming& program);

  Geometry geometry_;
  BoardRates rates_;
  Timeline timeline_;
  std::vector<ChipClocks> chips_;
  WorkCounts counts_;
};

}  // namespace gdr
