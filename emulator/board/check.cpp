// Validation of a command before its execution.
#include <fmt/core.h>

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/board/board_state.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 8> kind_names{
    "",           "LoadProgram", "WriteMemory", "WriteTargets",
    "WriteParam", "Run",         "ReadTargets", "ReadMemory"};

/// Limit of j-items, far from overflow of all counts.
constexpr std::uint64_t max_items = std::uint64_t{1} << 40;

class Checker {
 public:
  Checker(const BoardState& board, const CommandList& list, std::size_t index)
      : board_(board), list_(list), command_(list.commands[index]), index_(index) {}

  std::span<const std::uint64_t> payload() const {
    check_fields();
    const std::uint64_t words = payload_length(command_, board_.timing());
    if (command_.payload_words != 0 && command_.payload_words != words)
      refuse("its payload has {} words instead of {}", command_.payload_words, words);
    const std::span<const std::uint64_t> available = list_.words_from(command_.payload);
    if (words > available.size())
      refuse("its payload of {} words from {} on lies beyond the list's {}", words,
             command_.payload, list_.payload.size());
    return available.first(words);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    const auto kind = static_cast<std::size_t>(command_.kind);
    const std::string name =
        kind >= 1 && kind < kind_names.size() ? fmt::format(" ({})", kind_names[kind]) : "";
    throw Error(ErrorCategory::Device, fmt::format("command {}{}: ", index_, name) +
                                           fmt::format(why, std::forward<Args>(args)...));
  }

  void check_flags(std::uint32_t known) const {
    if ((command_.flags & ~known) != 0) refuse("unknown flags {}", command_.flags & ~known);
  }

  void check_chips() const {
    const std::size_t count = board_.chips.size();
    const std::uint64_t all = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    if (command_.chips == 0) refuse("no chip takes part; set a bit for each in `chips`");
    if ((command_.chips & ~all) != 0)
      refuse("chip {} is not there; the board has {}", std::countr_zero(command_.chips & ~all),
             count);
  }

  void check_one_chip() const {
    check_chips();
    if (std::popcount(command_.chips) != 1)
      refuse("results come from one chip at a time unless the board joins them");
  }

  void check_partition() const {
    const bool runs = command_.kind == CommandKind::Run;
    if (command_.partition != ChipPartition::TargetsOverBlocks &&
        command_.partition != ChipPartition::SourcesOverBlocks &&
        !(runs && command_.partition == ChipPartition::PartsOverBlocks))
      refuse("unknown partition {}", static_cast<std::uint32_t>(command_.partition));
  }

  void check_program() const {
    if (!board_.loaded) refuse("there is no program; load one first");
    for (std::size_t c = 0; c < board_.chips.size(); ++c)
      if (takes_part(command_.chips, c) && board_.chips[c].loaded != board_.loaded)
        refuse("chip {} holds another program than chip {}; use separate commands for each", c,
               std::countr_zero(command_.chips));
  }

  void check_slots(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t slots =
        target_slots(board_.loaded->program, board_.geometry, command_.partition);
    if (first > slots || count > slots - first)
      refuse("slots from {}, {} of them, lie beyond the {} of a chip", first, count, slots);
  }

  void check_memory(std::uint64_t address, std::uint64_t count, std::uint64_t words) const {
    const std::uint64_t size = board_.geometry.dram_bytes / 8;
    if (address > size || u128{count} * words > size - address)
      refuse("{} times {} words from address {} lie beyond the memory of {} words", count, words,
             address, size);
  }

  void check_run() const {
    check_chips();
    check_partition();
    check_program();
    check_flags(run_start | run_end | run_flags | run_results_only | run_return | run_reassociate);
    check_slots(0, command_.targets);
    if (command_.count > max_items) refuse("more than 2^40 j-items");
    const ProgramTiming& timing = board_.loaded->timing;
    const std::uint64_t out_words = timing.output_words_of_source(command_.partition);
    const bool in_parts = command_.partition == ChipPartition::PartsOverBlocks;
    const std::uint64_t in_words = timing.source_words * (in_parts ? board_.geometry.blocks : 1);
    check_memory(command_.address, command_.count, in_words);
    if ((command_.flags & run_return) != 0) return check_return();
    check_memory(command_.output_address, command_.count, out_words);
    const std::uint64_t source_end = command_.address + command_.count * in_words;
    const std::uint64_t output_end = command_.output_address + command_.count * out_words;
    const bool both = source_end > command_.address && output_end > command_.output_address;
    if (both && command_.output_address < source_end && command_.address < output_end)
      refuse("output items would overwrite j-items of the same run");
  }

  /// Joined words have the same partition in all blocks and chips.
  void check_return() const {
    if (command_.partition == ChipPartition::SourcesOverBlocks)
      refuse("output items of blocks that have items of their own cannot be joined on their way");
    for (const Variable& v : board_.loaded->program.variables)
      if (v.kind == VarKind::Output && v.reduce == Reduce::Pass)
        refuse("output item \"{}\" is passed; only what is joined goes to the host at once",
               v.name);
    constexpr std::uint64_t max_words = std::uint64_t{1} << 32;
    if (command_.count * board_.loaded->layout.output_words > max_words)
      refuse("more than 2^32 words of output items at once; divide the run");
  }

  void check_fields() const {
    switch (command_.kind) {
      case CommandKind::LoadProgram:
        if (command_.chips != 0) check_chips();
        if (command_.count > list_.words_from(command_.payload).size_bytes())
          refuse("the object is longer than the payload");
        return;
      case CommandKind::WriteMemory:
        check_chips();
        return check_memory(command_.address, command_.count, 1);
      case CommandKind::WriteTargets:
        check_chips();
        check_partition();
        check_program();
        return check_slots(command_.first, command_.count);
      case CommandKind::WriteParam:
        check_chips();
        check_program();
        if (command_.variable >= board_.loaded->params.size())
          refuse("there is no parameter {}; the program has {}", command_.variable,
                 board_.loaded->params.size());
        return;
      case CommandKind::Run:
        return check_run();
      case CommandKind::ReadTargets:
        check_flags(read_combine | read_raw);
        (command_.flags & read_combine) != 0 ? check_chips() : check_one_chip();
        check_partition();
        check_program();
        return check_slots(command_.first, command_.count);
      case CommandKind::ReadMemory:
        check_one_chip();
        return check_memory(command_.address, command_.count, 1);
    }
    refuse("unknown kind {}", static_cast<std::uint32_t>(command_.kind));
  }

  const BoardState& board_;
  const CommandList& list_;
  const Command& command_;
  std::size_t index_;
};

}  // namespace

std::span<const std::uint64_t> check_command(const BoardState& board, const CommandList& list,
                                             std::size_t index) {
  return Checker(board, list, index).payload();
}

}  // namespace gdr
