// The j-items of a run that all blocks of a chip read.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "emulator/engine/runners/encoded_sources.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// These items by chip, kept from pass to pass: only those are encoded again that have changed.
/// Chips with equal memories share them.
class SharedSources {
 public:
  /// `streamed`: the engine whose streams blocks read; null: they read the broadcast memory only.
  SharedSources(const LoadedProgram& program, const StreamingExecutable* streamed)
      : program_(program), streamed_(streamed) {}
  /// Forgets which items belong to which chip.
  void begin() noexcept { by_chip_.clear(); }
  /// Appends tasks that encode these groups of the run, for the engine, too, if `streams`. They
  /// replace those of an earlier call; nothing may encode or read others before they are done.
  void prepare(const PassState& pass, GroupRange groups, bool streams, std::vector<Phase>& phases);
  /// The items of a chip that runs.
  const EncodedSources& of(std::size_t chip) const noexcept { return *by_chip_[chip]; }
  /// After the tasks of a run: keeps the items for the next one.
  void keep() noexcept;

 private:
  std::deque<EncodedSources> cache_;      ///< items by chip
  std::vector<EncodedSources*> by_chip_;  ///< items of the chips that run; null: of others
  const LoadedProgram& program_;
  const StreamingExecutable* const streamed_;
};

}  // namespace gdr
