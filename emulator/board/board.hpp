// The emulated board: chips with their control processors and memories, executing command lists.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"

namespace gdr {

/// Block runs of the engine by path.
struct EngineStats {
  std::uint64_t fast_runs = 0;      ///< runs in host numbers (see SectionStats)
  std::uint64_t fallback_runs = 0;  ///< runs on integers or on the exact engine
  std::uint64_t gpu_runs = 0;       ///< the part of `fast_runs` on a GPU
  std::string reason;               ///< why a loaded program has fallback runs; empty if none
  double compile_seconds = 0;       ///< time of code generation, seconds
};

class Board {
 public:
  /// `threads`: host threads; 0: the default of OpenMP. Throws gdr::Error (Usage) for a geometry
  /// without chips, blocks, PEs or memory, or beyond GeometryLimits.
  Board(const Geometry& geometry, std::shared_ptr<const Engine> engine, unsigned threads = 0);
  ~Board();
  Board(Board&&) noexcept;
  Board& operator=(Board&&) noexcept;

  /// Executes a list; `results` becomes the words that its reads return, in order. Throws
  /// gdr::Error (Device) for a malformed command (unknown chip, address beyond the memory, no
  /// program, payload too short), and (Program) for an object that cannot be read or does not fit
  /// the geometry. The commands before it have been executed; the command itself has no effect.
  void execute(const CommandList& list, std::vector<std::uint64_t>& results);

  /// Adds the clocks, bytes and time of a list to the counts without executing it; for lists whose
  /// results the caller computes from its own arrays. The contents of memories and PEs stay as they
  /// are.
  void count(const CommandList& list);

  /// Like `execute`, but passes at the end of the list may be executed later, with those of the
  /// next lists, which is faster on GPUs: `results` is complete only after the next call of
  /// `complete` or `execute`, and must exist until then, as must the list's borrowed buffers.
  void start(const CommandList& list, std::vector<std::uint64_t>& results);
  /// Executes the passes that `start` has left. After an error they are lost.
  void complete();
  /// The same for several boards, together where they have the same program, parameters and
  /// sources, as the boards of a device have. After an error the passes of all of them are lost.
  static void complete(std::span<Board* const> boards);
  /// Forgets these passes: their results stay undefined.
  void discard() noexcept;
  /// How many lists with passes should be started before `complete`; 0: none.
  unsigned lists_ahead() const noexcept;

  /// Sets the maximum number of result words of a list, for boards with untrusted clients. No limit
  /// by default.
  void limit_results(std::uint64_t words) noexcept;
  /// Number of executed commands of the last list; the index of the refused one if there was one.
  std::size_t commands_done() const noexcept;

  const Geometry& geometry() const noexcept;
  const Engine& engine() const noexcept;
  /// The program in a chip's instruction store; null before its first LoadProgram.
  const Program* program(unsigned chip = 0) const noexcept;
  /// Work since construction or reset_counts, including that of refused lists.
  const WorkCounts& counts() const noexcept;
  void reset_counts() noexcept;
  /// Statistics since construction.
  EngineStats engine_stats() const;

  /// Starts a new record of busy times by list, or discards it and stops recording.
  void record(bool on);
  /// Lists since `record(true)`, in order; empty if not recording.
  const std::vector<ListRecord>& recorded() const noexcept;

  /// Direct access to a chip's state, for tests, dumps and debuggers. Valid until the next list is
  /// executed. Throws gdr::Error (Device) for a chip number that does not exist.
  const ChipState& chip(unsigned number) const;
  ChipState& chip(unsigned number);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
