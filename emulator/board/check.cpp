#include "emulator/board/check.hpp"

#include <array>
#include <bit>
#include <string>
#include <string_view>

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

  std::span<const std::uint64_t> check() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void check_flags(std::uint32_t known) const;
  void check_chips() const;
  void check_one_chip() const;
  void check_share() const;
  void check_program() const;
  void check_slots(std::uint64_t first, std::uint64_t count) const;
  void check_memory(std::uint64_t address, std::uint64_t count, std::uint64_t words) const;
  void check_run() const;
  void check_return() const;
  std::uint64_t check_kind() const;

  const BoardState& board_;
  const CommandList& list_;
  const Command& command_;
  std::size_t index_;
};

void Checker::refuse(const std::string& why) const {
  const auto kind = static_cast<std::size_t>(command_.kind);
  const std::string name = kind < kind_names.size() ? std::string(kind_names[kind]) : "";
  throw Error(ErrorCategory::Device, "command " + std::to_string(index_) +
                                         (name.empty() ? "" : " (" + name + ")") + ": " + why);
}

void Checker::check_flags(std::uint32_t known) const {
  if ((command_.flags & ~known) != 0) {
    refuse("unknown flags " + std::to_string(command_.flags & ~known));
  }
}

void Checker::check_chips() const {
  const std::size_t count = board_.chips.size();
  const std::uint64_t all = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  if (command_.chips == 0) refuse("no chip takes part; set a bit for each in `chips`");
  if ((command_.chips & ~all) != 0) {
    refuse("chip " + std::to_string(std::countr_zero(command_.chips & ~all)) +
           " is not there; the board has " + std::to_string(count));
  }
}

void Checker::check_one_chip() const {
  check_chips();
  if (std::popcount(command_.chips) != 1) {
    refuse("results come from one chip at a time unless the board joins them");
  }
}

void Checker::check_share() const {
  const bool runs = command_.kind == CommandKind::Run;
  if (command_.partition != ChipPartition::TargetsOverBlocks &&
      command_.partition != ChipPartition::SourcesOverBlocks &&
      !(runs && command_.partition == ChipPartition::PartsOverBlocks)) {
    refuse("unknown partition " + std::to_string(static_cast<std::uint32_t>(command_.partition)));
  }
}

void Checker::check_program() const {
  if (!board_.loaded) refuse("there is no program; load one first");
  for (std::size_t c = 0; c < board_.chips.size(); ++c) {
    if (takes_part(command_.chips, c) && board_.chips[c].loaded != board_.loaded)
      refuse("chip " + std::to_string(c) + " holds another program than chip " +
             std::to_string(std::countr_zero(command_.chips)) + "; use separate commands for each");
  }
}

void Checker::check_slots(std::uint64_t first, std::uint64_t count) const {
  const std::uint64_t slots =
      target_slots(board_.loaded->program, board_.geometry, command_.partition);
  if (first > slots || count > slots - first) {
    refuse("slots from " + std::to_string(first) + ", " + std::to_string(count) +
           " of them, lie beyond the " + std::to_string(slots) + " of a chip");
  }
}

void Checker::check_memory(std::uint64_t address, std::uint64_t count, std::uint64_t words) const {
  const std::uint64_t size = board_.geometry.dram_bytes / 8;
  if (address > size || u128{count} * words > size - address) {
    refuse(std::to_string(count) + " times " + std::to_string(words) + " words from address " +
           std::to_string(address) + " lie beyond the memory of " + std::to_string(size) +
           " words");
  }
}

void Checker::check_run() const {
  check_chips();
  check_share();
  check_program();
  check_flags(run_start | run_end | run_flags | run_results_only | run_return | run_reassociate);
  check_slots(0, command_.targets);
  if (command_.count > max_items) refuse("more than 2^40 j-items");
  const LinkLayout& layout = board_.loaded->layout;
  const std::uint64_t out_words =
      layout.output_words *
      output_records(board_.loaded->program, board_.geometry, command_.partition);
  const std::uint64_t parts =
      command_.partition == ChipPartition::PartsOverBlocks ? board_.geometry.blocks : 1;
  check_memory(command_.address, command_.count, layout.source_words * parts);
  if ((command_.flags & run_return) != 0) return check_return();
  check_memory(command_.output_address, command_.count, out_words);
  const std::uint64_t source_end = command_.address + command_.count * layout.source_words * parts;
  const std::uint64_t output_end = command_.output_address + command_.count * out_words;
  const bool both = source_end > command_.address && output_end > command_.output_address;
  if (both && command_.output_address < source_end && command_.address < output_end) {
    refuse("output items would overwrite j-items of the same run");
  }
}

/// Joined words have the same partition in all blocks and chips.
void Checker::check_return() const {
  if (command_.partition == ChipPartition::SourcesOverBlocks)
    refuse("output items of blocks that have items of their own cannot be joined on their way");
  for (const Variable& v : board_.loaded->program.variables) {
    if (v.kind == VarKind::Output && v.reduce == Reduce::Pass)
      refuse("output item \"" + v.name +
             "\" is passed; only what is joined goes to the host at once");
  }
  constexpr std::uint64_t most_words = std::uint64_t{1} << 32;
  if (command_.count * board_.loaded->layout.output_words > most_words)
    refuse("more than 2^32 words of output items at once; divide the run");
}

/// Checks the fields of the kind and returns the length of its payload.
std::uint64_t Checker::check_kind() const {
  switch (command_.kind) {
    case CommandKind::LoadProgram:
      if (command_.chips != 0) check_chips();
      if (command_.count > list_.words_from(command_.payload).size_bytes())
        refuse("the object is longer than the payload");
      return command_.count / 8 + (command_.count % 8 != 0 ? 1 : 0);
    case CommandKind::WriteMemory:
      check_chips();
      check_memory(command_.address, command_.count, 1);
      return command_.count;
    case CommandKind::WriteTargets:
      check_chips();
      check_share();
      check_program();
      check_slots(command_.first, command_.count);
      return command_.count * board_.loaded->layout.target_words;
    case CommandKind::WriteParam:
      check_chips();
      check_program();
      if (command_.variable >= board_.loaded->params.size()) {
        refuse("there is no parameter " + std::to_string(command_.variable) + "; the program has " +
               std::to_string(board_.loaded->params.size()));
      }
      return (board_.loaded->layout.params[command_.variable].half_words + 1) / 2;
    case CommandKind::Run:
      check_run();
      return 0;
    case CommandKind::ReadTargets:
      check_flags(read_combine | read_raw);
      (command_.flags & read_combine) != 0 ? check_chips() : check_one_chip();
      check_share();
      check_program();
      check_slots(command_.first, command_.count);
      return 0;
    case CommandKind::ReadMemory:
      check_one_chip();
      check_memory(command_.address, command_.count, 1);
      return 0;
  }
  refuse("unknown kind " + std::to_string(static_cast<std::uint32_t>(command_.kind)));
}

std::span<const std::uint64_t> Checker::check() const {
  const std::uint64_t words = check_kind();
  if (command_.payload_words != 0 && command_.payload_words != words) {
    refuse("its payload has " + std::to_string(command_.payload_words) + " words where " +
           std::to_string(words) + " belong");
  }
  const std::span<const std::uint64_t> there = list_.words_from(command_.payload);
  if (words > there.size()) {
    refuse("its payload of " + std::to_string(words) + " words from " +
           std::to_string(command_.payload) + " on lies beyond the list's " +
           std::to_string(list_.payload.size()));
  }
  return there.first(words);
}

}  // namespace

std::span<const std::uint64_t> check_command(const BoardState& board, const CommandList& list,
                                             std::size_t index) {
  return Checker(board, list, index).check();
}

}  // namespace gdr
