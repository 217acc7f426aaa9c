// A board as the library sees it: command lists go in, words come out, wherever it stands.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/board/board.hpp"

namespace gdr {

/// Measured by the host, since the board was opened.
struct LinkTimes {
  double transfer_seconds = 0;  ///< copying to and from the memory that the board reaches
  double busy_seconds = 0;      ///< the board at work on lists
};

class BoardLink {
 public:
  virtual ~BoardLink() = default;

  /// Execute a list, as Board::execute does, and return when it is done: `results` becomes the
  /// words that its reads return. Throws Error (Device or Program) as the board refuses a command;
  /// what was done before it is done. Throws Cancelled once a stop is requested; the contents of
  /// the board are undefined then.
  virtual void execute(const CommandList& list, std::vector<std::uint64_t>& results,
                       const std::stop_token& stop = {}) = 0;

  /// Of lists that have come back: since the board was opened or reset_counts.
  virtual WorkCounts counts() const = 0;
  virtual void reset_counts() = 0;
  /// Since the board was opened.
  virtual EngineStats engine_stats() const = 0;
  /// Fast numerics with kernels for products: what the chip cuts off a factor is multiplied, too.
  virtual bool multiplies_all_bits() const noexcept = 0;
  /// Boards that are not in this process work by themselves: several of them at the same time, each
  /// with a thread of the host that waits for it.
  virtual bool elsewhere() const noexcept { return false; }
  /// False for a time model, which neither reads payloads nor returns words.
  virtual bool needs_data() const noexcept { return true; }
  /// Which board it is, for messages.
  virtual std::string name() const { return "emulated board"; }
  virtual LinkTimes times() const = 0;
  /// Wait for everything that was given to the board, and throw what it refused.
  virtual void settle() {}
  /// Begin a new record of lists, or (false) forget it and write no more; and what was recorded
  /// since, of lists that have come back, in their order.
  virtual void record(bool on) = 0;
  virtual const std::vector<ListRecord>& recorded() const noexcept = 0;
  /// The emulated board itself, for dumps and debuggers; null where it is not in this process.
  virtual Board* emulated() noexcept { return nullptr; }
};

/// An emulated board in this process. Arguments and errors are those of Board's constructor.
std::unique_ptr<BoardLink> emulate_board(const Geometry& geometry,
                                         std::shared_ptr<const Engine> engine, unsigned threads);

}  // namespace gdr
