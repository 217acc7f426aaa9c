// The driver: command lists through a ring of descriptors to a board that is elsewhere.
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

namespace gdr::driver {

/// What a board's registers say about it.
struct BoardIdentity {
  Geometry geometry;
  std::string engine, isa;
  unsigned threads = 0;
  std::uint64_t capabilities = 0;
};

struct DriverOptions {
  /// A board that makes no progress for so long is given up. How long a list takes does not matter:
  /// a board that works shows it (register HEARTBEAT).
  double timeout_seconds = 60;
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
  void execute(const CommandList& list, std::vector<std::uint64_t>& results) override;
  WorkCounts counts() const override { return counts_; }
  void reset_counts() override;
  EngineWork engine_work() const override { return work_; }
  bool multiplies_all_bits() const noexcept override {
    return (identity_.capabilities & capability_all_bits) != 0;
  }
  bool elsewhere() const noexcept override { return true; }
  std::string name() const override { return access_->name(); }
  LinkTimes times() const override;
  void settle() override;

 private:
  /// A list on its way. Its place in the transfer memory is [begin, end).
  struct Flight {
    Descriptor descriptor;
    Completion* completion = nullptr;  ///< in shared memory
    std::uint64_t begin = 0, end = 0;
    std::uint64_t result_at = 0;
    std::uint64_t result_room = 0;
    std::optional<ProgramLengths> program_before;  ///< where the list loads one
    std::uint64_t load_command = 0;
    unsigned tries = 1;
  };
  struct Piece {
    Command command;
    std::uint64_t payload_words, result_words;
  };
  using Clock = std::chrono::steady_clock;

  void identify();
  void reset();
  void prepare_ring();
  void submit(const std::vector<Piece>& pieces, const CommandList& list);
  std::uint64_t room_for(std::uint64_t bytes);
  bool grow(std::uint64_t bytes) noexcept;
  void make_room(const std::vector<Piece>& pieces);
  void ring(Flight& flight);
  void collect(std::vector<std::uint64_t>* results);
  void take(const Completion& c) noexcept;
  void resubmit();
  void refuse(const Completion& c, const Flight& flight);
  Completion await(Flight& flight);
  Completion again(const Flight& flight, std::uint64_t first, std::uint64_t words,
                   std::uint64_t bus);
  void fetch_results(const Flight& flight, const Completion& c,
                     std::vector<std::uint64_t>& results);
  bool arrived(const Flight& flight, Completion& c) const noexcept;
  bool wait(const Flight& flight);
  [[noreturn]] void lose(const std::string& why);
  std::vector<std::vector<Piece>> divide(const CommandList& list);
  std::uint64_t most_payload_words() const noexcept;
  void drop_flights();

  std::unique_ptr<BoardAccess> access_;
  DriverOptions options_;
  BoardIdentity identity_;
  std::string lost_;           ///< why the board cannot be used any more; empty: it can
  DmaArea control_;            ///< ring, and completions of what is asked for again
  DmaArea data_;               ///< lists, payloads, results, completions
  std::uint64_t largest_ = 0;  ///< that it can become
  std::deque<Flight> flights_;
  std::uint64_t sequence_ = 0;
  bool resume_ = false, reset_counts_ = false;
  ProgramLengths program_;
  WorkCounts counts_;
  EngineWork work_;
  std::uint64_t busy_nanoseconds_ = 0;
  double transfer_seconds_ = 0;
};

/// A board behind the driver. Errors are those of DrivenBoard's constructor.
std::unique_ptr<DrivenBoard> drive_board(std::unique_ptr<BoardAccess> access,
                                         const DriverOptions& options);

}  // namespace gdr::driver
