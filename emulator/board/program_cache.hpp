// The programs of a board: prepared once, and kept while chips or the cache hold them.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "emulator/board/board.hpp"
#include "emulator/board/board_state.hpp"

namespace gdr {

/// Prepared programs, and the statistics of all programs that have run.
class ProgramCache {
 public:
  explicit ProgramCache(BoardState& board) : board_(board) {}

  /// The prepared program of an object. Throws gdr::Error (Program) if it cannot be read or does
  /// not fit the geometry.
  std::shared_ptr<ReadyProgram> get(std::span<const std::uint8_t> object);
  /// Loads a program into chips, and evicts the oldest programs that no chip holds.
  void load(const std::shared_ptr<ReadyProgram>& program, std::uint64_t chips);

  /// Statistics since construction. Only programs in chips run, so that the cost does not depend on
  /// the number of cached ones.
  EngineStats stats() const;
  /// Somebody else may have changed the state of the chips.
  void invalidate_chips() noexcept;

 private:
  bool is_in_chip(const ReadyProgram* program) const noexcept;
  void add_work_in_chips(EngineStats& work) const;
  void drop_old_programs();

  BoardState& board_;
  std::list<std::shared_ptr<ReadyProgram>> ready_;  ///< cache, most recently loaded first
  EngineStats idle_;                                ///< statistics of the programs not in a chip
};

}  // namespace gdr
