// Execution of the command lists that descriptors name: fetch, check, run, results.
#pragma once

#include <cstdint>
#include <utility>

#include "emulator/board/board.hpp"
#include "emulator/board/hardware/board_registers.hpp"
#include "emulator/board/hardware/command_queue.hpp"
#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/faults.hpp"
#include "emulator/board/hardware/host_memory.hpp"

namespace gdr {

/// Copies lists from host memory, executes them on the emulated chips, and writes their results to
/// host memory. Commands and payload are copied before they are checked and used, since the host
/// may change them at any time.
class ListExecutor {
 public:
  /// All arguments but the board outlive this object.
  ListExecutor(Board board, BoardRegisters& registers, HostMemory& memory,
               const FaultInjector& faults)
      : board_(std::move(board)), registers_(registers), memory_(memory), faults_(faults) {}

  /// Executes the list of a descriptor; `c` gets its status, counts and results.
  void execute(CommandQueue& queue, const Descriptor& d, Completion& c);
  /// Repeats a completion of the queue, and part of the results of the last list.
  void resend(CommandQueue& queue, const Descriptor& d, Completion& c);

  const Board& board() const noexcept { return board_; }
  /// The last list that was fetched.
  const CommandList& list() const noexcept { return list_; }

 private:
  bool fetch_list(const Descriptor& d, Completion& c);
  bool is_within_queue(const CommandQueue& queue, Completion& c) const;
  void run_list(CommandQueue& queue, Completion& c);
  bool send_results(const CommandQueue& queue, const Descriptor& d, std::uint64_t first,
                    std::uint64_t words, Completion& c);
  void report_work(Completion& c) const;

  Board board_;
  BoardRegisters& registers_;
  HostMemory& memory_;
  const FaultInjector& faults_;
  CommandList list_;
};

}  // namespace gdr
