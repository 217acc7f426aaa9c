#include "emulator/board/hardware/board_status.hpp"

#include <algorithm>
#include <cstddef>

namespace gdr {
namespace {

std::uint64_t instructions_of(const Program* program) noexcept {
  std::uint64_t n = 0;
  if (program != nullptr)
    for (const auto& section : program->sections) n += section.size();
  return n;
}

}  // namespace

BoardStatus::BoardStatus(BoardRegisters& registers, const std::vector<CommandQueue>& queues,
                         const ListExecutor& lists)
    : registers_(registers),
      queues_(queues),
      lists_(lists),
      chip_bits_(lists.board().geometry().chips_per_board, 0) {
  put_status();
}

void BoardStatus::put_status() noexcept {
  registers_.put(Register::Status, (queues_.front().failed ? status_failed : status_ready) |
                                       (halted_ != 0 ? status_halted : 0));
}

void BoardStatus::put_chip_status(unsigned chip) noexcept {
  registers_.put(of_chip(Register::ChipStatus, chip),
                 chip_bits_[chip] | (lists_.board().program(chip) != nullptr ? chip_loaded : 0) |
                     (takes_part(halted_, chip) ? chip_halted : 0) |
                     (queues_[chip + 1].failed ? chip_failed : 0));
}

void BoardStatus::fail_ring(const CommandQueue& queue) {
  registers_.increment(Register::Refused);
  registers_.put(queue.registers.error, static_cast<std::uint64_t>(CompletionStatus::BadAddress));
  registers_.put(queue.registers.error_sequence, queue.sequence + 1);
  if (!queue.chip) return put_status();
  registers_.increment(of_chip(Register::ChipRefused, *queue.chip));
  put_chip_status(*queue.chip);
}

void BoardStatus::account(const CommandQueue& queue, const Completion& c) {
  if (!succeeded(c.status) && c.status != CompletionStatus::Skipped) {
    registers_.increment(Register::Refused);
    if (!queue.chip) {
      registers_.put(queue.registers.error, static_cast<std::uint64_t>(c.status));
      registers_.put(queue.registers.error_sequence, queue.sequence);
    }
  }
  const bool ran = queue.results_of == queue.sequence;
  for (unsigned chip = 0; chip < chip_bits_.size(); ++chip)
    if (takes_part(queue.chips, chip)) account_chip(queue, c, chip, ran);
  put_status();
}

void BoardStatus::account_chip(const CommandQueue& queue, const Completion& c, unsigned chip,
                               bool ran) {
  const auto at = [&](Register r) { return of_chip(r, chip); };
  const std::vector<Command>& list = lists_.list().commands;
  const std::size_t size = ran ? list.size() : 0;
  // The rejected command of a failed list counts as well.
  const std::size_t done =
      std::min(size, ran ? lists_.board().commands_done() + (succeeded(c.status) ? 0 : 1) : 0);
  std::uint64_t commands = 0;
  for (std::size_t k = 0; k < done; ++k) commands += takes_part(chips_of(list[k]), chip) ? 1 : 0;
  registers_.increment(at(Register::ChipCommands), commands);
  registers_.put(at(Register::ChipInstructions), instructions_of(lists_.board().program(chip)));
  const bool affected =
      queue.chip || (c.command < size && takes_part(chips_of(list[c.command]), chip));
  if (succeeded(c.status)) {
    if (commands > 0) chip_bits_[chip] = 0;
  } else if (c.status != CompletionStatus::Skipped && affected) {
    chip_bits_[chip] = chip_error | (queue.chip ? 0 : chip_by_board);
    registers_.put(at(Register::ChipError), static_cast<std::uint64_t>(c.status));
    registers_.put(at(Register::ChipErrorCommand), c.command);
    registers_.put(at(Register::ChipErrorSequence), queue.sequence);
    if (queue.chip) registers_.increment(at(Register::ChipRefused));
  }
  put_chip_status(chip);
}

}  // namespace gdr
