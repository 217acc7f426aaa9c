// The driver: command lists through rings of descriptors to a board that is elsewhere. Lists for
// one chip go to that chip's queue, all others to the board's.
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
#include "libgdr/driver/list_lengths.hpp"
#include "libgdr/driver/patience.hpp"

namespace gdr::driver {

/// What a board's registers say about it.
struct BoardIdentity {
  Geometry geometry;
  std::string engine, isa;
  unsigned threads = 0;
  std::uint64_t capabilities = 0;
};

struct DriverOptions {
  /// A board that shows no sign of life (register HEARTBEAT) for so long is given up; 0: as long as
  /// follows from the work that it has (patience.hpp).
  double timeout_seconds = 0;
};

class DrivenBoard final : public BoardLink {
 public:
  /// Identifies the board and resets it. Throws Error (Device) for what is no board, has another
  /// version, or does not answer.
  DrivenBoard(std::unique_ptr<BoardAccess> access, const DriverOptions& options);
  ~DrivenBoard() override;

  const BoardIdentity& identity() const noexcept { return identity_; }

  /// Lists that return nothing are posted: the call comes back when they are in the board's hands,
  /// and what it refuses of them is thrown by the next call.
  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop = {}) override;
  WorkCounts counts() const override { return counts_; }
  void reset_counts() override;
  EngineStats engine_stats() const override { return work_; }
  bool multiplies_all_bits() const noexcept override {
    return (identity_.capabilities & capability_all_bits) != 0;
  }
  bool elsewhere() const noexcept override { return true; }
  std::string name() const override { return access_->name(); }
  LinkTimes times() const override;
  void settle() override;
  void record(bool on) override {
    records_ = on;
    recorded_.clear();
  }
  const std::vector<ListRecord>& recorded() const noexcept override { return recorded_; }

 private:
  /// A queue of the board: its registers, and where its ring lies in the memory for control.
  struct Ring {
    Register doorbell{}, head{}, status{};
    std::uint64_t failed = 0;  ///< bit of the status
    std::uint64_t at = 0, entries = 0;
    std::uint64_t sequence = 0;  ///< of the last descriptor in it
  };
  /// A program that a list brings.
  struct Load {
    std::uint64_t index;  ///< of the command
    Command command;
    ProgramTiming program;
  };
  /// A list on its way. Its place in the transfer memory is [begin, end).
  struct Flight {
    Descriptor descriptor;
    Completion* completion = nullptr;  ///< in shared memory
    std::uint64_t begin = 0, end = 0;
    std::uint64_t result_at = 0;
    std::uint64_t result_room = 0;
    std::uint64_t result_words = 0;  ///< that its commands return
    std::size_t ring = 0;            ///< number in rings_
    std::vector<Load> loads;
    double submitted = 0;        ///< seconds of the host's steady clock
    CommandKind main_command{};  ///< what it is for, in a record
    unsigned tries = 1;
  };
  struct Piece {
    Command command;
    std::uint64_t payload_words, result_words;
    std::optional<ProgramTiming> program;  ///< that it loads
  };
  using Clock = std::chrono::steady_clock;

  void identify();
  void reset();
  void prepare_rings();
  [[noreturn]] void lose(const std::string& why);
  void calm();

  // submit.cpp: from a list to the ring
  std::vector<std::vector<Piece>> divide(const CommandList& list) const;
  std::uint64_t most_payload_words() const noexcept;
  std::uint64_t room_for(std::uint64_t bytes);
  bool grow(std::uint64_t bytes) noexcept;
  void make_room(const std::vector<Piece>& pieces);
  std::size_t ring_for(const std::vector<Piece>& pieces) const noexcept;
  void submit(const std::vector<Piece>& pieces, const CommandList& list);
  void ring(Flight& flight);

  // collect.cpp: from completions to results
  bool arrived(const Flight& flight, Completion& c) const noexcept;
  bool wait(const Flight& flight);
  Completion await(Flight& flight);
  Completion again(const Flight& flight, std::uint64_t first, std::uint64_t words,
                   std::uint64_t bus);
  void take(const Completion& c, const Flight& flight);
  void note(const Completion& c, const Flight& flight);
  void resubmit();
  void drop_flights();
  void refuse(const Completion& c);
  void fetch_results(const Flight& flight, const Completion& c,
                     std::vector<std::uint64_t>& results);
  void collect(std::vector<std::uint64_t>* results);

  std::unique_ptr<BoardAccess> access_;
  DriverOptions options_;
  BoardIdentity identity_;
  std::string lost_;            ///< why the board cannot be used any more; empty: it can
  DmaArea control_;             ///< rings, and completions of what is asked for again
  std::uint64_t asked_at_ = 0;  ///< where those are in it
  std::vector<Ring> rings_;     ///< the board's, then the chips'
  DmaArea data_;                ///< lists, payloads, results, completions
  std::uint64_t largest_ = 0;   ///< that it can become
  /// Lists under way: all in the board's queue, or all in those of chips.
  std::deque<Flight> flights_;
  bool resume_ = false, reset_counts_ = false;
  Patience patience_;       ///< with all of them
  std::stop_token stop_;    ///< of the call that is executing
  bool stopping_ = false;   ///< register STOP is set
  ChipPrograms programs_;   ///< once all lists under way are done
  ChipPrograms collected_;  ///< as far as they came back
  WorkCounts counts_;
  EngineStats work_;
  std::uint64_t busy_nanoseconds_ = 0;
  double transfer_seconds_ = 0;
  bool records_ = false;
  std::vector<ListRecord> recorded_;
};

/// A board behind the driver. Errors are those of DrivenBoard's constructor.
std::unique_ptr<DrivenBoard> drive_board(std::unique_ptr<BoardAccess> access,
                                         const DriverOptions& options);

}  // namespace gdr::driver
