#include "emulator/board/command_executor.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "gdr/error.hpp"

namespace gdr {

void CommandExecutor::begin_list(std::vector<std::uint64_t>& results,
                                 std::uint64_t max_words) noexcept {
  results_ = &results;
  max_words_ = max_words;
  words_ = 0;
  memory_writer_.begin_list();
}

/// Extends the results and returns the offset of the new words, which are overwritten.
std::size_t CommandExecutor::expect(std::size_t more) {
  const std::size_t offset = words_;
  if (more > max_words_ - words_)
    throw Error(ErrorCategory::Device, "the list returns more than the " +
                                           std::to_string(max_words_) +
                                           " words that this board allows; divide it");
  words_ += more;
  if (results_->size() < words_) results_->resize(words_);
  return offset;
}

/// Selects the program of the chips that a command names.
void CommandExecutor::select_program(const Command& c) {
  const bool of_memory = c.kind == CommandKind::WriteMemory || c.kind == CommandKind::ReadMemory;
  if (of_memory || c.kind == CommandKind::LoadProgram) return;
  const auto first = static_cast<std::size_t>(std::countr_zero(c.chips));
  if (first >= board_.chips.size() || board_.chips[first].loaded == board_.loaded) return;
  passes_.flush();
  board_.loaded = board_.chips[first].loaded;
}

void CommandExecutor::load_program(const Command& c, Payload payload) {
  passes_.flush();
  board_.loaded = programs_.get({reinterpret_cast<const std::uint8_t*>(payload.data()), c.count});
  programs_.load(board_.loaded, chips_of(c));
}

void CommandExecutor::write_targets(const Command& c, Payload payload) {
  passes_.add_write(c, payload.data());
  for_each_chip(board_, c.chips, [&](std::size_t, BoardChip& chip) {
    const std::uint64_t end = c.first + c.count;
    chip.targets = c.first == 0 ? end : std::max(end, chip.targets.value_or(0));
  });
}

void CommandExecutor::write_param(const Command& c, Payload payload) {
  bool keeps_value = passes_.takes_params();
  if (keeps_value)
    for_each_chip(board_, c.chips, [&](std::size_t, BoardChip& chip) {
      keeps_value =
          keeps_value && std::ranges::equal(chip.chip.params().words(c.variable), payload);
    });
  if (keeps_value)
    return passes_.add_param({c.chips, c.variable, {payload.begin(), payload.end()}});
  passes_.flush();
  for_each_chip(board_, c.chips,
                [&](std::size_t, BoardChip& chip) { chip.chip.set_param(c.variable, payload); });
}

void CommandExecutor::run(const Command& c) {
  const LoadedProgram& loaded = *board_.loaded;
  const LoopPlan plan = make_plan(loaded, board_.geometry, c.partition, c.count);
  const std::uint64_t output_words =
      c.count * board_.loaded->timing.output_words_of_source(c.partition);
  const bool returns = (c.flags & run_return) != 0;
  if (output_words > 0) passes_.memory_writes().finish(board_.threads);
  const RunTargets targets(board_, c.targets, c.partition);
  for_each_chip(board_, c.chips, [&](std::size_t, BoardChip& chip) {
    if (!returns) chip.memory.reserve(c.output_address, output_words);
    const std::uint64_t pairs = targets.of(chip) * c.count;
    timer_.counts().interactions += pairs;
    timer_.counts().flops += static_cast<double>(pairs) * loaded.program.flops;
  });
  passes_.add_run(c, plan, returns ? expect(output_words) : 0);
}

void CommandExecutor::read_targets(const Command& c) {
  passes_.add_read(c, expect(c.count * words_of_target(board_.loaded->layout, c.flags)));
}

void CommandExecutor::read_memory(const Command& c) {
  passes_.flush_run();
  passes_.memory_writes().finish(board_.threads);
  const std::size_t offset = expect(c.count);
  const auto chip = static_cast<std::size_t>(std::countr_zero(c.chips));
  board_.chips[chip].memory.read(c.address, std::span(*results_).subspan(offset, c.count));
}

void CommandExecutor::execute(const CommandList& list, std::size_t index) {
  const Command& c = list.commands[index];
  select_program(c);
  const Payload payload = check_command(board_, list, index);
  switch (c.kind) {
    case CommandKind::LoadProgram:
      load_program(c, payload);
      break;
    case CommandKind::WriteMemory:
      memory_writer_.write(passes_, c, payload);
      break;
    case CommandKind::WriteTargets:
      write_targets(c, payload);
      break;
    case CommandKind::WriteParam:
      write_param(c, payload);
      break;
    case CommandKind::Run:
      run(c);
      break;
    case CommandKind::ReadTargets:
      read_targets(c);
      break;
    case CommandKind::ReadMemory:
      read_memory(c);
      break;
  }
  timer_.add(c, board_.timing());
}

}  // namespace gdr
