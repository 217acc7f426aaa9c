// The command list: a short plain-data program for a board. It means the same whether it is
// executed in this process, sent to a board server, placed in a DMA ring or run on another rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

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

/// How targets and sources stand in a chip.
enum class Share : std::uint32_t {
  /// Every block has targets of its own and sees every source:
  /// target q stands in block q / (P E), PE q / E mod P, element q mod E.
  TargetsOverBlocks = 0,
  /// Every block has the same targets, and a slice of the sources; the network joins the results:
  /// target q stands in PE q / E, element q mod E, of every block.
  SourcesOverBlocks = 1,
  /// Of runs: targets as in TargetsOverBlocks, and of every source a part for each block. A record
  /// in memory has the parts of all blocks, one behind the other; all blocks work on every item,
  /// and the network joins their output items.
  PartsOverBlocks = 2,
};

enum RunFlags : std::uint32_t {
  run_start = 1,  ///< run section Start first (clears accumulators)
  run_end = 2,    ///< run section End afterwards
  run_flags = 4,  ///< keep sticky exception flags
  /// Nobody looks at the PEs afterwards but for results, and the next run has `run_start`: what the
  /// program only needs on the way may be left undone.
  run_results_only = 8,
  /// Output items go to the host as words of the list's results instead of to memory; those of
  /// several chips are joined on the board, by each variable's reduction.
  run_return = 16,
};

enum ReadFlags : std::uint32_t {
  read_combine = 1,  ///< join the chips' words on the board, by each variable's reduction
  /// Results come as the network has them, so that they can be joined with those of other sources
  /// before anything is rounded: of each target two words for every `fvar`, in the order of
  /// declaration: the low 64 bits of the long word, and those above.
  read_raw = 2,
};

/// One command: plain data, 80 bytes, no pointers. Fields that a kind does not name are zero.
struct Command {
  CommandKind kind{};
  Share share{};
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
  std::uint64_t payload = 0;  ///< offset in CommandList::payload, in words
  /// Its length in words: 0 for what kind, counts and program say; any other number must agree.
  std::uint64_t payload_words = 0;

  friend bool operator==(const Command&, const Command&) = default;
};
static_assert(sizeof(Command) == 80);

struct CommandList {
  std::vector<Command> commands;
  std::vector<std::uint64_t> payload;
};

/// Layout of a program's variables on the link: 64-bit words of a target, an item, a result. Fields
/// stand in the order of declaration. Floats (f32) pack two to a word, the first in the low half;
/// everything else begins a word, and each group is padded to whole words. A raw long takes two
/// words, its low 64 bits first. Params are groups of their own: one value each.
struct LinkLayout {
  struct Field {
    std::uint32_t variable;    ///< index into Program::variables
    std::uint32_t half_word;   ///< offset in the group, in 32-bit units
    std::uint32_t half_words;  ///< size
  };
  std::vector<Field> targets, sources, results, outputs, params;
  std::uint32_t target_words = 0, source_words = 0, result_words = 0, output_words = 0;
};
LinkLayout link_layout(const Program& program);

/// Words that a ReadTargets command gives for each target.
constexpr std::uint64_t words_of_target(const LinkLayout& layout, std::uint32_t flags) noexcept {
  return (flags & read_raw) != 0 ? 2 * layout.results.size() : layout.result_words;
}

/// Records of `output_words` that a j-item leaves in memory: one for each block where an `ovar` is
/// passed and all blocks see the item, else one.
std::uint64_t output_records(const Program& program, const Geometry& geometry,
                             Share share) noexcept;

/// Target slots of a chip under a way of sharing.
std::uint64_t target_slots(const Program& program, const Geometry& geometry, Share share) noexcept;

}  // namespace gdr
