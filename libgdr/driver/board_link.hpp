// Interface of the library to a board, in this process or outside of it: execution of command
// lists.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "emulator/board/board.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// Times measured by the host since the board was opened.
struct LinkTimes {
  double transfer_seconds = 0;  ///< copies to and from the transfer memory
  double busy_seconds = 0;      ///< execution of lists on the board
};

class BoardLink {
 public:
  virtual ~BoardLink() = default;

  /// Executes a list, as Board::execute does, and returns after its completion: `results` becomes
  /// the words that its reads return. Throws Error (Device or Program) if the board rejects a
  /// command; the commands before it have been executed. Throws Cancelled after a stop request; the
  /// contents of the board are undefined then.
  virtual void execute(const CommandList& list, std::vector<std::uint64_t>& results,
                       const std::stop_token& stop = {}) = 0;

  /// Starts a list with results, and may return before its completion; finish() returns the results
  /// of the lists that were started, in that order. Errors are those of execute(), and may concern
  /// earlier lists; after an error all results that were not returned are lost.
  virtual void start(const CommandList& list, const std::stop_token& stop = {}) {
    std::vector<std::uint64_t> results;
    execute(list, results, stop);
    started_.push_back(std::move(results));
  }
  virtual void finish(std::vector<std::uint64_t>& results, const std::stop_token& /*stop*/ = {}) {
    results = std::move(started_.front());
    started_.pop_front();
  }
  /// Gives up all lists that were submitted: their results, and errors that no call has thrown. A
  /// stop request for them does not concern later lists. Buffers that they borrow are not read any
  /// more; the contents of the board are undefined.
  virtual void discard_started() noexcept { started_.clear(); }
  /// How many lists with results should be started before the results of the first are needed.
  virtual unsigned lists_ahead() const noexcept { return 0; }

  /// Counters of completed lists, since the board was opened or reset_counts was called.
  virtual WorkCounts counts() const = 0;
  virtual void reset_counts() = 0;
  /// Statistics since the board was opened.
  virtual EngineStats engine_stats() const = 0;
  /// Products use all bits of a factor, including those that the chip truncates (fast numerics).
  virtual bool multiplies_all_bits() const noexcept = 0;
  /// The board is outside of this process. Such boards execute lists concurrently, each with a
  /// waiting host thread.
  virtual bool is_remote() const noexcept { return false; }
  /// Whether products may be computed from the caller's arrays, with `count` for their lists.
  virtual bool multiplies_arrays() const noexcept { return false; }
  /// The instruction set for these products.
  virtual Isa isa() const noexcept { return Isa::Portable; }
  /// Adds the clocks, bytes and time of a list to the counts without executing it. Only if
  /// multiplies_arrays().
  virtual void count(const CommandList& /*list*/) {}
  /// False for a time model, which neither reads payloads nor returns results.
  virtual bool needs_data() const noexcept { return true; }
  /// Name of the board, for messages.
  virtual std::string name() const { return "emulated board"; }
  virtual LinkTimes times() const = 0;
  /// Streams to a board of another host. Thread-safe.
  virtual std::vector<StreamStatistics> streams() const { return {}; }
  /// Waits for the completion of all submitted lists, and throws their error.
  virtual void wait_for_completion() {}
  /// Starts a new timeline, or (false) deletes it and stops recording.
  virtual void record(bool on) {
    records_ = on;
    recorded_.clear();
  }
  /// Timeline of completed lists, in their order.
  virtual const std::vector<ListRecord>& recorded() const noexcept { return recorded_; }
  /// The emulated board, for dumps and debuggers; null for a board outside of this process.
  virtual Board* emulated() noexcept { return nullptr; }

 protected:
  bool records_ = false;
  std::vector<ListRecord> recorded_;

 private:
  std::deque<std::vector<std::uint64_t>> started_;  ///< results of lists of start()
};

/// Emulated boards of a device in this process, used by one thread at a time. Lists that were
/// started on several of them are computed together, where the engine can. Arguments and errors are
/// those of Board's constructor.
std::vector<std::unique_ptr<BoardLink>> emulate_boards(unsigned count, const Geometry& geometry,
                                                       const std::shared_ptr<const Engine>& engine,
                                                       unsigned threads);
/// A single one.
std::unique_ptr<BoardLink> emulate_board(const Geometry& geometry,
                                         const std::shared_ptr<const Engine>& engine,
                                         unsigned threads);

/// A board that only applies the time model to command lists. Payloads are not read, so lists may
/// refer to memory that does not exist, and reads return no results. Every chip runs the program
/// whose timing is given.
std::unique_ptr<BoardLink> model_board(const Geometry& geometry, const ProgramTiming& program,
                                       const BoardRates& rates);

}  // namespace gdr
