// The driver: submits command lists to a board outside of this process through descriptor rings.
// Lists for one chip use that chip's queue, all others the board's.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/board/hardware/descriptor.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/board_link.hpp"
#include "libgdr/driver/list_work.hpp"
#include "libgdr/driver/polling.hpp"

namespace gdr::driver {

/// Description of a board, from its registers.
struct BoardIdentity {
  Geometry geometry;
  std::string engine, isa;
  std::uint64_t capabilities = 0;
};

/// Maximum number of lists in flight. Together with Resend descriptors it stays below the number
/// of completions that a board retains per queue.
constexpr std::size_t max_lists_in_flight = 16;

class RemoteBoard final : public BoardLink {
 public:
  /// Identifies the board and resets it. Throws Error (Device) if the device is not a board, has an
  /// incompatible version, or does not respond. `timeout_seconds` is the maximum time between
  /// heartbeats (register HEARTBEAT) before a board is marked as failed; 0 derives it from its work
  /// (list_work.hpp). `poll_seconds` is how long a call polls a completion before it sleeps.
  explicit RemoteBoard(std::unique_ptr<BoardAccess> access, double timeout_seconds = 0,
                       double poll_seconds = board_poll_seconds);
  ~RemoteBoard() override;

  const BoardIdentity& identity() const noexcept { return identity_; }

  /// Lists without results are posted: the call returns after submission, and the next call throws
  /// their errors.
  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop = {}) override;
  void discard_started() noexcept override;
  WorkCounts counts() const override { return counts_; }
  void reset_counts() override;
  EngineStats engine_stats() const override { return engine_stats_; }
  bool multiplies_all_bits() const noexcept override {
    return (identity_.capabilities & capability_all_bits) != 0;
  }
  bool is_remote() const noexcept override { return true; }
  std::string name() const override { return access_->name(); }
  LinkTimes times() const override;
  void wait_for_completion() override;

 private:
  /// A queue of the board, with its ring in the control memory.
  struct Ring {
    QueueRegisters registers;
    std::uint64_t offset = 0;  ///< offset in the control memory, in bytes
    std::uint64_t entries = 0;
    std::uint64_t sequence = 0;  ///< sequence number of the last descriptor
  };
  /// A LoadProgram command of a list.
  struct ProgramLoad {
    std::uint64_t index;  ///< index of the command in the list
    Command command;
    ProgramTiming program;
  };
  /// A submitted list. It occupies bytes [begin, end) of the transfer memory.
  struct InFlightList {
    Descriptor descriptor;
    Completion* completion = nullptr;  ///< completion in shared memory
    std::uint64_t begin = 0, end = 0;
    std::uint64_t result_offset = 0;    ///< byte offset of the results in the transfer memory
    std::uint64_t result_capacity = 0;  ///< words
    std::uint64_t result_words = 0;     ///< words that its commands return
    std::size_t ring = 0;               ///< index in rings_
    std::vector<ProgramLoad> program_loads;
    double submitted_seconds = 0;  ///< time of submission on the host's steady clock
    CommandKind main_command{};    ///< command kind shown in the timeline
    unsigned attempts = 1;
  };
  /// A command with the sizes of its transfers.
  struct PreparedCommand {
    Command command;
    std::uint64_t payload_words, result_words;
    std::optional<ProgramTiming> program;  ///< program of a LoadProgram command
  };
  using Clock = std::chrono::steady_clock;

  static std::uint64_t* words_at(const DmaArea& area, std::uint64_t offset) noexcept {
    return reinterpret_cast<std::uint64_t*>(area.memory + offset);
  }

  void identify();
  void prepare_rings();
  void reset();
  [[noreturn]] void fail(const std::string& why);
  void clear_stop();

  // submission
  std::vector<std::vector<PreparedCommand>> divide(const CommandList& list) const;
  std::uint64_t max_payload_words() const noexcept;
  std::uint64_t allocate_transfer(std::uint64_t bytes);
  void reserve_transfer_memory(const std::vector<PreparedCommand>& prepared);
  std::size_t ring_for(const std::vector<PreparedCommand>& prepared) const noexcept;
  void submit(const std::vector<PreparedCommand>& prepared, const CommandList& list);
  void post_descriptor(InFlightList& entry);

  // completion.cpp
  bool read_completion(const InFlightList& entry, Completion& c) const noexcept;
  bool wait_written(const InFlightList& entry);
  Completion await_completion(const InFlightList& entry);
  Completion resend(const InFlightList& entry, std::uint64_t first, std::uint64_t words,
                    std::uint64_t bus);
  void apply_completion(const Completion& c, const InFlightList& entry);
  void record_list(const Completion& c, const InFlightList& entry);
  void resubmit();
  void discard_in_flight();
  void throw_refusal(const Completion& c);
  void fetch_results(const InFlightList& entry, const Completion& c,
                     std::vector<std::uint64_t>& results);
  void complete_oldest(std::vector<std::uint64_t>* results);

  std::unique_ptr<BoardAccess> access_;
  double timeout_seconds_;  ///< the user's; 0: derived from the work
  Polling polling_;         ///< polling of completions
  BoardIdentity identity_;
  std::string failure_;               ///< reason why the board failed; empty: it is usable
  DmaArea control_;                   ///< control memory: rings, completions of Resend
  std::uint64_t resend_offset_ = 0;   ///< byte offset of the Resend completion in control_
  std::vector<Ring> rings_;           ///< the board's, then the chips'
  DmaArea data_;                      ///< transfer memory: lists, payloads, results, completions
  std::uint64_t max_data_bytes_ = 0;  ///< maximum size of the transfer memory
  /// Submitted lists: all in the board's queue, or all in chip queues.
  std::deque<InFlightList> in_flight_;
  bool resume_ = false, reset_counts_ = false;
  TimeoutPolicy timeout_;            ///< policy for all lists in flight
  std::stop_token stop_;             ///< token of the current call
  bool stop_requested_ = false;      ///< register STOP is set
  bool discarded_ = false;           ///< nobody awaits the lists in flight
  ChipPrograms programs_;            ///< programs after all lists in flight
  ChipPrograms completed_programs_;  ///< programs after the completed lists
  WorkCounts counts_;
  EngineStats engine_stats_;
  std::uint64_t busy_nanoseconds_ = 0;
  double transfer_seconds_ = 0;
};

}  // namespace gdr::driver
