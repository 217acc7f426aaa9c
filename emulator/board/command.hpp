// The command list: a short plain-data program for a board. Its meaning does not depend on the
// transport: in this process, to a board server, by a DMA ring or on another rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/partition.hpp"

namespace gdr {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

enum class CommandKind : std::uint32_t {
  /// Payload: an object file of `count` bytes. Clears the chips and runs section Init.
  LoadProgram = 1,
  WriteMemory = 2,   ///< payload: `count` words for the control processors' memory at `address`
  WriteTargets = 3,  ///< payload: the `ivar`s of `count` target slots from `first`
  WriteParam = 4,    ///< payload: one value for the `param` number `variable`
  Run = 5,           ///< runs the loop over `count` j-items in memory at `address`
  ReadTargets = 6,   ///< returns the `fvar`s of `count` target slots from `first`
  ReadMemory = 7,    ///< returns `count` words of one chip's memory from `address`
};

/// One command: plain data, 80 bytes, no pointers. Fields that a kind does not use are zero.
struct Command {
  CommandKind kind{};
  ChipPartition partition{};
  /// Bit c: chip c takes part. Reads without `read_combine` name one chip; LoadProgram without any
  /// bit names all chips.
  std::uint64_t chips = 0;
  std::uint32_t variable = 0;        ///< WriteParam: number among the program's params
  std::uint32_t flags = 0;           ///< Run: RunFlags. ReadTargets: ReadFlags
  std::uint64_t address = 0;         ///< memory word address (64-bit words)
  std::uint64_t first = 0;           ///< first target slot of the chip
  std::uint64_t count = 0;           ///< targets, j-items, words, or bytes of the object file
  std::uint64_t output_address = 0;  ///< Run: memory word address of output items (`ovar`s)
  /// Run: number of valid targets, from slot 0; blocks without targets need not run. 0: the targets
  /// of WriteTargets commands since the last one at slot 0, or all slots before the first
  /// WriteTargets and in programs without `ivar`s.
  std::uint64_t targets = 0;
  /// First word of the payload: an offset in CommandList::payload, or a value of
  /// CommandList::borrow.
  std::uint64_t payload = 0;
  /// Length of the payload in words, checked against kind, counts and program; 0: not checked.
  std::uint64_t payload_words = 0;

  friend bool operator==(const Command&, const Command&) = default;
};
static_assert(sizeof(Command) == 80);

/// The mask of chips of a command; all chips for LoadProgram without any bit.
constexpr std::uint64_t chips_of(const Command& command) noexcept {
  const bool all = command.kind == CommandKind::LoadProgram && command.chips == 0;
  return all ? ~std::uint64_t{0} : command.chips;
}

struct CommandList {
  std::vector<Command> commands;
  std::vector<std::uint64_t> payload;
  /// Buffers that are not copied into the list; they must exist until it has been executed.
  std::vector<std::span<const std::uint64_t>> borrowed = {};

  /// Adds a borrowed buffer; returns the value of Command::payload for its first word.
  std::uint64_t borrow(std::span<const std::uint64_t> words) {
    borrowed.push_back(words);
    return std::uint64_t{borrowed.size()} << buffer_shift;
  }
  /// The words from a value of Command::payload on; none for an invalid value.
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
