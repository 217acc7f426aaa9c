// The board's bus interface: registers, descriptor rings, DMA and interrupts around the emulated
// chips and their control processors. Independent of sockets and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/board/board.hpp"
#include "emulator/board/hardware/board_registers.hpp"
#include "emulator/board/hardware/board_status.hpp"
#include "emulator/board/hardware/command_queue.hpp"
#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/faults.hpp"
#include "emulator/board/hardware/host_memory.hpp"
#include "emulator/board/hardware/list_executor.hpp"
#include "emulator/board/hardware/registers.hpp"

namespace gdr {

/// Configuration of a board.
struct HardwareConfig {
  Geometry geometry;
  std::shared_ptr<const Engine> engine;
  unsigned threads = 0;
  std::uint64_t max_results = std::uint64_t{1} << 27;  ///< words that a list may return
};

/// Callbacks to the transport.
struct HardwareSignals {
  std::function<void()> interrupt;              ///< raises an interrupt
  std::function<void(const std::string&)> log;  ///< reports refused requests
};

/// A board with its queues of descriptors: it takes requests from registers and rings, has lists
/// executed, and reports completions and its state.
class BoardHardware {
 public:
  /// `bar` has bar_bytes, initially zero, and is shared with the host; `memory` is the host memory
  /// that the board may reach. Both outlive the board. Errors are those of Board's constructor.
  BoardHardware(HardwareConfig config, std::byte* bar, HostMemory& memory, HardwareSignals signals,
                std::vector<Fault> faults = {});
  BoardHardware(const BoardHardware&) = delete;
  BoardHardware& operator=(const BoardHardware&) = delete;

  /// Processes pending requests: a reset, or all written descriptors. A reset that is requested
  /// meanwhile ends the current list. False if there was no work.
  bool step();

  /// Whether the doorbell requests work.
  bool has_work() const noexcept;
  /// Sets or clears the asleep bit: the doorbell is not polled. The caller checks has_work()
  /// afterwards, for a host that rang before it saw the bit.
  void set_asleep(bool asleep) noexcept;
  /// An injected fault has stopped the board permanently.
  bool stuck() const noexcept { return stuck_; }

 private:
  void reset(std::uint64_t control);
  void put_identity() noexcept;

  bool rung(const CommandQueue& queue) const noexcept;
  void serve(CommandQueue& queue);
  void fail_ring(CommandQueue& queue, const std::string& why);
  void fetch(CommandQueue& queue);
  void process(CommandQueue& queue, const Descriptor& d);
  void execute(CommandQueue& queue, const Descriptor& d, Completion& c);
  void log_failure(const CommandQueue& queue, const Completion& c) const;
  void finish(CommandQueue& queue, const Descriptor& d, Completion c);

  HardwareConfig config_;
  BoardRegisters registers_;
  HostMemory& memory_;
  HardwareSignals signals_;
  FaultInjector faults_;
  // State since the last reset.
  std::vector<CommandQueue> queues_;  ///< the board's, then the chips'
  std::optional<ListExecutor> lists_;
  std::optional<BoardStatus> status_;
  bool stuck_ = false;  ///< an injected fault has stopped the board
};

}  // namespace gdr
