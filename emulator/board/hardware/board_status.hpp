// What a board tells its host about itself: identity, the states of board and chips, failures.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/board/hardware/board_registers.hpp"
#include "emulator/board/hardware/command_queue.hpp"
#include "emulator/board/hardware/list_executor.hpp"

namespace gdr {

/// The status registers of the board and of its chips, and which chips skip lists.
class BoardStatus {
 public:
  /// After a reset. The arguments outlive this object.
  BoardStatus(BoardRegisters& registers, const std::vector<CommandQueue>& queues,
              const ListExecutor& lists);

  /// Whether any of these chips skips lists until one resumes.
  bool is_halted(std::uint64_t chips) const noexcept { return (halted_ & chips) != 0; }
  void halt(std::uint64_t chips) noexcept { halted_ |= chips; }
  void resume(std::uint64_t chips) noexcept { halted_ &= ~chips; }

  /// Updates the registers for a list that was executed, skipped or refused.
  void account(const CommandQueue& queue, const Completion& c);
  /// The same for an invalid ring.
  void fail_ring(const CommandQueue& queue);

 private:
  void put_status() noexcept;
  void put_chip_status(unsigned chip) noexcept;
  void account_chip(const CommandQueue& queue, const Completion& c, unsigned chip, bool ran);

  BoardRegisters& registers_;
  const std::vector<CommandQueue>& queues_;
  const ListExecutor& lists_;
  std::uint64_t halted_ = 0;              ///< bit c: chip c skips lists until one resumes
  std::vector<std::uint64_t> chip_bits_;  ///< bits chip_error and chip_by_board of ChipStatus
};

}  // namespace gdr
