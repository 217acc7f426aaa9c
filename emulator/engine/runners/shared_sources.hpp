// The j-items of a run that all blocks of a chip read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/api/pass_state.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// j-items that all blocks of a chip read, converted for the broadcast memory and for the engine.
/// Chips with equal memories share them. Cached for later runs.
struct CachedItems {
  std::optional<ItemsKey> key;
  bool converted = false;             ///< `groups` is valid
  std::vector<std::uint64_t> shorts;  ///< as in the broadcast memory, consecutive items
  std::vector<std::byte> groups;
  std::uint64_t revision = 0;  ///< of `groups`; this and the next two as SourceStream has them
  std::uint64_t previous = 0;
  std::vector<std::span<const std::byte>> changes;
  std::atomic<bool> usable = true;  ///< the engine could convert all of them
};

/// These items by chip, kept from pass to pass: only those are converted again that have changed.
/// Chips with equal memories share them.
class SharedSources {
 public:
  /// `streamed`: converts groups for the engine; null: they go through the broadcast memory only.
  SharedSources(const LoadedProgram& program, const StreamingExecutable* streamed)
      : program_(program), streamed_(streamed) {}
  /// Forgets which items belong to which chip.
  void begin() noexcept { by_chip_.clear(); }
  /// Appends tasks that convert these groups of the run, for the engine, too, if `streams`.
  /// `whole`: they are all groups of the run. Nothing may convert or read others before they are
  /// done.
  void prepare(const PassState& pass, GroupRange groups, bool whole, bool streams,
               std::vector<Phase>& phases);
  /// The items of a chip that runs.
  const CachedItems& of(std::size_t chip) const noexcept { return *by_chip_[chip]; }
  /// After a run whose items were prepared as a whole: keeps them for the next run on them.
  void keep(const PassState& pass, bool streams);

 private:
  void convert(const PassState& pass, std::size_t chip, GroupRange all, std::uint64_t part,
               bool streams);

  const LoadedProgram& program_;
  const StreamingExecutable* const streamed_;
  std::deque<CachedItems> cache_;      ///< by chip
  std::vector<CachedItems*> by_chip_;  ///< of the chips that run
};

}  // namespace gdr
