// The command list: a short plain-data program for a board. Its meaning does not depend on the
// transport: in this process, to a board server, by a DMA ring or on another rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/partition.hpp"

namespace gdr {

enum class CommandKind : std::uint32_t {
  LoadProgram =
      1,  ///< payload: an object file of `count` bytes; clears the chips, runs Init on them
  WriteMemory = 2,   ///< payload: `count` words to the control processors' memory at `address`
  WriteTargets = 3,  ///< payload to `count` i-slots from `first`: each target's `ivar`s in order
  WriteParam = 4,    ///< payload: one value for the `param` number `variable`
  Run = 5,           ///< run the loop over `count` j-items in memory at `address`
  ReadTargets = 6,   ///< results of `count` i-slots from `first`: each target's `fvar`s in order
  ReadMemory = 7,    ///< `count` words of one chip's memory from `address`
};

/// One command: plain data, 80 bytes, no pointers. Fields that a kind does not name are zero.
struct Command {
  CommandKind kind{};
  ChipPartition partition{};
  std::uint64_t chips = 0;  ///< bit c: chip c takes part (reads without `read_combine`: one bit);
                            ///< LoadProgram without any: all of them
  std::uint32_t variable = 0;  ///< WriteParam: number among the program's params
  std::uint32_t flags = 0;     ///< Run: RunFlags. ReadTargets: ReadFlags
  std::uint64_t address = 0;   ///< memory word address (64-bit words)
  std::uint64_t first = 0;     ///< first target slot of the chip
  std::uint64_t count = 0;     ///< targets, j-items, words, or bytes of the object file
  std::uint64_t output_address =
      0;  ///< Run: where output items go in memory (programs with `ovar`s)
  /// Run: targets that count, from slot 0; only blocks that hold some need run. 0 stands for those
  /// that WriteTargets gave this chip: a write at slot 0 begins a new set, any other widens it.
  /// Until there was one, and in programs without `ivar`s, all slots count.
  std::uint64_t targets = 0;
  /// First word of its payload: an offset in CommandList::payload, or what CommandList::borrow
  /// returned.
  std::uint64_t payload = 0;
  /// Its length in words: 0 for what kind, counts and program say; any other number must agree.
  std::uint64_t payload_words = 0;

  friend bool operator==(const Command&, const Command&) = default;
};
static_assert(sizeof(Command) == 80);

struct CommandList {
  std::vector<Command> commands;
  std::vector<std::uint64_t> payload;
  /// Buffers that are not copied into the list; their owners keep them until it has been executed.
  std::vector<std::span<const std::uint64_t>> borrowed = {};

  /// Add a borrowed buffer; returns the value of Command::payload for its first word.
  std::uint64_t borrow(std::span<const std::uint64_t> words) {
    borrowed.push_back(words);
    return std::uint64_t{borrowed.size()} << buffer_shift;
  }
  /// The words from a value of Command::payload on; none if there is no such word.
  std::span<const std::uint64_t> words_from(std::uint64_t place) const noexcept {
    const std::uint64_t buffer = place >> buffer_shift;
    if (buffer > borrowed.size()) return {};
    const std::span<const std::uint64_t> words = buffer == 0 ? payload : borrowed[buffer - 1];
    return words.subspan(std::min<std::uint64_t>(place & offset_mask, words.size()));
  }
  void clear() noexcept {
    commands.clear();
    payload.clear();
    borrowed.clear();
  }

 private:
  static constexpr unsigned buffer_shift = 48;  ///< bits above: 0 for `payload`, else the buffer
  static constexpr std::uint64_t offset_mask = (std::uint64_t{1} << buffer_shift) - 1;
};

}  // namespace gdr
