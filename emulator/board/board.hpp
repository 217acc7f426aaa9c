// The emulated board: chips with their control processors and memories, executing command lists.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/record.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/engine/engine.hpp"

namespace gdr {

/// How the engine has run: on blocks, section by section.
struct EngineWork {
  std::uint64_t fast_runs = 0;  ///< in host numbers (see SectionNote)
  std::uint64_t slow_runs = 0;  ///< the slow way instead
  std::string reason;          ///< why a program now loaded has slow ones, if one has
  double compile_seconds = 0;  ///< spent making machine code
};

class Board {
 public:
  /// threads: 0 lets OpenMP decide. Throws gdr::Error (Usage) for a geometry without any chips,
  /// blocks, PEs or memory, or beyond GeometryLimits.
  Board(const Geometry& geometry, std::shared_ptr<const Engine> engine, unsigned threads = 0);
  ~Board();
  Board(Board&&) noexcept;
  Board& operator=(Board&&) noexcept;

  /// Execute a list; `results` becomes the words that its reads return, in order. Throws
  /// gdr::Error (Device) for a malformed command before anything of that command has happened, and
  /// after everything before it has: chip that is not there, address beyond the memory, no program,
  /// payload too short. An object that cannot be read or does not fit the geometry is refused the
  /// same way (Program); the program that was loaded before stays.
  void execute(const CommandList& list, std::vector<std::uint64_t>& results);

  /// Lists that would return more words than this are refused where they do: for boards whose
  /// lists come from strangers. No limit at first.
  void limit_results(std::uint64_t words) noexcept;
  /// Commands of the last list that were executed: of one that was refused, which it was.
  std::size_t commands_done() const noexcept;

  const Geometry& geometry() const noexcept;
  const Engine& engine() const noexcept;
  /// That a chip's instruction store holds; null before its first LoadProgram.
  const Program* program(unsigned chip = 0) const noexcept;
  /// Since the board was made or reset_counts: whole lists, and what an incomplete one did.
  const WorkCounts& counts() const noexcept;
  void reset_counts() noexcept;
  /// Since the board was made; reset_counts leaves it.
  EngineWork engine_work() const;

  /// Begin a new record of what is busy when, list by list; or forget it and write no more.
  void record(bool on);
  /// Lists since `record(true)`, in their order; none where nothing was asked for.
  const std::vector<ListRecord>& recorded() const noexcept;

  /// Direct sight of a chip's state, for tests, dumps and debuggers. Changes count until the next
  /// list is executed: ask again for those after it. Throws gdr::Error (Device) for a chip that is
  /// not there.
  const ChipState& chip(unsigned number) const;
  ChipState& chip(unsigned number);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
