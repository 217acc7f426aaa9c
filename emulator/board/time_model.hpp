// The time model of a real board: constants, clocks of a run, and the timeline of a command list.
// Commands are enough for it: no payload is read and nothing is computed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/constants.hpp"

namespace gdr {

struct LoopPlan;

/// Work counted while command lists execute; the same in every engine, thread count and host.
/// Clocks are those of the busiest chip of the board: chips that work concurrently count once.
struct WorkCounts {
  std::uint64_t compute_clocks = 0;    ///< PE clocks of all sections
  std::uint64_t port_in_clocks = 0;    ///< chip input port
  std::uint64_t port_out_clocks = 0;   ///< chip output port
  std::uint64_t chip_clocks = 0;       ///< larger of compute and ports for each half
  std::uint64_t link_write_bytes = 0;  ///< host to board
  std::uint64_t link_read_bytes = 0;   ///< board to host
  std::uint64_t interactions = 0;      ///< pairs of targets and sources, of all chips
  double flops = 0;                    ///< interactions times the program's count
  double predicted_seconds = 0;        ///< time on the real board, with its link
  /// Adds the work of another period.
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

/// Consecutive fills of a half of the broadcast memories with equal work.
struct HalfWork {
  std::uint64_t times = 0;    ///< number of equal fills
  std::uint64_t compute = 0;  ///< PE clocks
  std::uint64_t words_in = 0, words_out = 0;
  bool out_to_memory = true;  ///< else to the host
};

/// Contract, paragraph 5: sections Start and End, the first fill, for each half the larger of its
/// compute clocks and of the concurrent port clocks (fill of the next half, results of the previous
/// one), and the last results. `clock_hz` matters only if the memory is slower than the ports.
ChipClocks run_clocks(std::uint64_t start, std::span<const HalfWork> halves, std::uint64_t end,
                      double clock_hz, const BoardRates& rates = {}) noexcept;

/// A resource of a board: one direction of the link, a chip, or the whole board if details are
/// unknown.
enum class BusyPart : std::uint8_t { LinkWrite, Chip, LinkRead, Board };

/// Busy time of a resource for one command; seconds since the list began, on the real board.
struct BusyTime {
  BusyPart part{};
  std::uint32_t chip = 0;  ///< chip number, for BusyPart::Chip
  CommandKind command{};
  double begin = 0, end = 0;
};

/// One command list: its execution on this host (seconds of the steady clock), and the busy times
/// of the real board within `seconds`.
struct ListRecord {
  double host_begin = 0, host_end = 0;
  double seconds = 0;
  std::vector<BusyTime> busy;
};

/// Timeline of one command list: both directions of the link and every chip work concurrently.
/// Commands begin in order, each as soon as its resources are free; times in seconds since the
/// beginning of the list.
class Timeline {
 public:
  Timeline(unsigned chips, double clock_hz, const BoardRates& rates = {})
      : chips_(chips, 0.0), clock_hz_(clock_hz), rates_(rates) {}

  /// Begins a new list: everything is free. Busy times are recorded in `busy`, unless null.
  void restart(std::vector<BusyTime>* busy = nullptr) noexcept;
  /// Sets the command of the next calls, for the record.
  void set_command(CommandKind command) noexcept { command_ = command; }

  /// Link transfer to the board's memories, concurrent with the chips, after their last access to
  /// the words [begin, end) of the memory. `chips` is a mask.
  void write_memory(std::uint64_t chips, std::uint64_t bytes, std::uint64_t begin,
                    std::uint64_t end);
  /// Link transfer, then `clocks` on each of the chips.
  void load(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks);
  /// `clocks` on each of the chips, after all writes so far; they read memory words [begin, end).
  void run(std::uint64_t chips, std::uint64_t clocks, std::uint64_t begin, std::uint64_t end);
  /// A run with concurrent transfer of its output items to the host; its chips start together.
  void run_returning(std::uint64_t chips, std::uint64_t clocks, std::uint64_t begin,
                     std::uint64_t end, std::uint64_t bytes);
  /// Adds memory words [begin, end) to those in use by the last run on these chips.
  void uses(std::uint64_t chips, std::uint64_t begin, std::uint64_t end);
  /// `clocks` on each of the chips, then a link transfer to the host.
  void read(std::uint64_t chips, std::uint64_t bytes, std::uint64_t clocks);

  /// Time at which all work is complete.
  double seconds() const noexcept;

 private:
  struct Use {
    std::uint64_t chips, begin, end;
    double until;
  };
  void busy(std::uint64_t chips, double from, std::uint64_t clocks);
  double free_time(std::uint64_t chips) const noexcept;
  void record(BusyPart part, std::size_t chip, double begin, double end);
  void transfer(BusyPart direction, std::uint64_t bytes);

  std::vector<double> chips_;  ///< time at which each chip is free
  std::vector<Use> uses_;      ///< memory ranges that runs read or write
  double link_write_ = 0, link_read_ = 0;
  double clock_hz_;
  BoardRates rates_;
  std::vector<BusyTime>* record_ = nullptr;
  CommandKind command_{};
};

/// Clocks of a program's sections and the sizes of its variables on the link.
struct ProgramTiming {
  std::uint64_t init_clocks = 0, start_clocks = 0, body_clocks = 0, end_clocks = 0;
  std::uint32_t group = 1;                 ///< sources that one iteration of the loop body takes
  std::uint64_t groups_per_half = 1;       ///< groups in half a broadcast memory
  std::uint64_t target_words = 0;          ///< link words of a target
  std::uint64_t source_words = 0;          ///< link words of a source
  std::uint64_t result_words = 0;          ///< link words of a target's results
  std::uint64_t raw_result_words = 0;      ///< link words of a target's results with read_raw
  std::uint64_t unjoined_words = 0;        ///< result words that the chip does not join
  std::uint64_t raw_unjoined_words = 0;    ///< result words that the chip does not join, read_raw
  std::uint64_t output_words = 0;          ///< link words of a source's output record
  std::uint64_t output_records = 1;        ///< output records of a source that all blocks process
  std::vector<std::uint64_t> param_words;  ///< link words of each parameter

  /// Link words of all output records of a source, in a run with this partition.
  std::uint64_t output_words_of_source(ChipPartition partition) const noexcept {
    return output_words * (partition == ChipPartition::SourcesOverBlocks ? 1 : output_records);
  }
};

/// Throws Error (Program) if the program does not fit the geometry.
ProgramTiming program_timing(const Program& program, const Geometry& geometry);

/// Words of payload that a command takes, and words that it returns; unspecified for commands that
/// a board refuses.
std::uint64_t payload_length(const Command& command, const ProgramTiming& program) noexcept;
std::uint64_t result_length(const Command& command, const ProgramTiming& program) noexcept;

/// Clocks of a run on one chip, which the longest slice determines. `flags` are RunFlags.
ChipClocks loop_clocks(const LoopPlan& plan, const ProgramTiming& program, const Geometry& geometry,
                       std::uint32_t flags, const BoardRates& rates = {}) noexcept;

/// Applies the time model to command lists: counts their clocks and bytes, and the seconds that
/// they take on the real board.
class ListTimer {
 public:
  explicit ListTimer(const Geometry& geometry, const BoardRates& rates = {});

  /// Begins a list; `busy`, if given, receives the busy times.
  void begin(std::vector<BusyTime>* busy = nullptr) { timeline_.restart(busy); }
  /// The next command of the list, for chips that hold the program described by `program`.
  void add(const Command& command, const ProgramTiming& program);
  /// The list is complete: its clocks and seconds are added to the counts.
  void end() noexcept;
  /// Seconds of the current list so far.
  double list_seconds() const noexcept { return timeline_.seconds(); }

  /// Work since construction or reset. The caller adds interactions and flops.
  WorkCounts& counts() noexcept { return counts_; }
  const WorkCounts& counts() const noexcept { return counts_; }
  void reset() noexcept;

 private:
  void add_clocks(std::uint64_t chips, const ChipClocks& clocks) noexcept;
  void run(const Command& command, const ProgramTiming& program);
  std::uint64_t unjoined_words(const Command& command, const ProgramTiming& program) const noexcept;

  Geometry geometry_;
  BoardRates rates_;
  Timeline timeline_;
  std::vector<ChipClocks> chips_;
  WorkCounts counts_;
};

}  // namespace gdr
