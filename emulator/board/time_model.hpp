// The time model of a real board: constants, clocks of a run, and the timeline of a command list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/constants.hpp"
#include "emulator/board/record.hpp"

namespace gdr {

/// Work counted while command lists execute; the same in every engine, thread count and host.
/// Clocks are those of the busiest chip of the board: chips that work concurrently count once.
struct WorkCounts {
  std::uint64_t compute_clocks = 0;    ///< PE clocks of all sections
  std::uint64_t port_in_clocks = 0;    ///< chip input port
  std::uint64_t port_out_clocks = 0;   ///< chip output port
  std::uint64_t chip_clocks = 0;       ///< larger of compute and ports for each half
  std::uint64_t link_write_bytes = 0;  ///< host to board
  std::uint64_t link_read_bytes = 0;   ///< board to host
  std::uint64_t interactions = 0;      ///< pairs asked for: targets times sources, all chips
  double flops = 0;                    ///< interactions times the program's count
  double predicted_seconds = 0;        ///< on the real board, with its link
  /// Adds everything: work done one after the other.
  WorkCounts& operator+=(const WorkCounts&) noexcept;
  friend bool operator==(const WorkCounts&, const WorkCounts&) = default;
};

std::span<const TimeConstant> time_constants() noexcept;

/// Transfer rates of a board and its link: by default those of constants.hpp, else of a described
/// system (libgdr/predict).
struct BoardRates {
  /// Clocks of a 64-bit word at a chip's ports.
  std::uint64_t port_in = static_cast<std::uint64_t>(constants::port_in.value);
  std::uint64_t port_out = static_cast<std::uint64_t>(constants::port_out.value);
  double dram = constants::dram.value;              ///< bytes/s of a chip's memory
  double link_write = constants::link_write.value;  ///< bytes/s, host to board
  double link_read = constants::link_read.value;    ///< bytes/s, board to host
  friend bool operator==(const BoardRates&, const BoardRates&) = default;
};

/// Clocks of one chip.
struct ChipClocks {
  std::uint64_t compute = 0, port_in = 0, port_out = 0;
  std::uint64_t total = 0;  ///< elapsed clocks: compute and ports overlap within a run
  ChipClocks& operator+=(const ChipClocks&) noexcept;
  friend bool operator==(const ChipClocks&, const ChipClocks&) = default;
};

/// Clocks of words through the input port: parameters and i-variables.
ChipClocks load_clocks(std::uint64_t words, const BoardRates& rates = {}) noexcept;
/// Clocks of words through the output port: results.
ChipClocks read_clocks(std::uint64_t words, const BoardRates& rates = {}) noexcept;

/// Consecutive fills of a half of the broadcast memories with equal work.
struct HalfWork {
  std::uint64_t times = 0;    ///< number of equal fills
  std::uint64_t compute = 0;  ///< PE clocks
  std::uint64_t words_in = 0, words_out = 0;
  bool out_to_memory = true;  ///< else to the host
};

/// Contract, paragraph 5: sections Start and End, the first fill, for each half the larger of its
/// compute clocks and of the port clocks beside it (the fill of the next half, the results of the
/// one before), and the last results. `clock_hz` only matters where the memory is slower than the
/// ports.
ChipClocks run_clocks(std::uint64_t start, std::span<const HalfWork> halves, std::uint64_t end,
                      double clock_hz, const BoardRates& rates = {}) noexcept;

/// Timeline of one command list: both directions of the link and every chip work concurrently.
/// Commands begin in order, each as soon as its resources are free; times in seconds since the
/// beginning of the list.
class Timeline {
 public:
  Timeline(unsigned chips, double clock_hz, const BoardRates& rates = {})
      : chips_(chips, 0.0), clock_hz_(clock_hz), rates_(rates) {}

  /// Begins a new list: everything is free.
  void restart() noexcept;
  /// Records busy times to `busy`; null stops recording.
  void record(std::vector<BusyTime>* busy) noexcept { record_ = busy; }
  /// Sets the command of the next calls, for the record.
  void doing(CommandKind command) noexcept { command_ = command; }

  /// Link transfer to the board's memories; chips go on meanwhile, but none may still be reading
  /// the words [begin, end) of its memory. `chips` is a mask.
  void write_memory(std::uint64_t chips, std::uint64_t bytes, std::uint64_t begin,
                    std::uint64_t end);
  /// Link transfer first, then `clocks` on each of the chips.
  void load(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks);
  /// `clocks` on each of the chips, after all writes so far; they read memory words [begin, end).
  void run(std::uint64_t chips, std::uint64_t clocks, std::uint64_t begin, std::uint64_t end);
  /// A run whose output items go to the host concurrently: its chips wait for one another.
  void run_returning(std::uint64_t chips, std::uint64_t clocks, std::uint64_t begin,
                     std::uint64_t end, std::uint64_t bytes);
  /// Adds memory words [begin, end) to those in use by the last run on these chips.
  void uses(std::uint64_t chips, std::uint64_t begin, std::uint64_t end);
  /// `clocks` on each of the chips, then, when all are done, a link transfer to the host.
  void read(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks);

  /// Time at which all work is complete.
  double seconds() const noexcept;

 private:
  struct Use {
    std::uint64_t chips, begin, end;
    double until;
  };
  void busy(std::uint64_t chips, double from, std::uint64_t clocks);
  void note(BusyPart part, std::size_t chip, double begin, double end);
  void send(std::uint64_t bytes);
  void receive(std::uint64_t bytes);

  std::vector<double> chips_;  ///< when each chip is free
  std::vector<Use> uses_;      ///< memory that runs read or write
  double link_write_ = 0, link_read_ = 0;
  double clock_hz_;
  BoardRates rates_;
  std::vector<BusyTime>* record_ = nullptr;
  CommandKind command_{};
};

}  // namespace gdr
