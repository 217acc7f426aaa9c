// The board's bus interface: registers, descriptor rings, DMA and interrupts around the emulated
// chips and their control processors. Independent of sockets and files.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/board/board.hpp"
#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/faults.hpp"
#include "emulator/board/hardware/host_memory.hpp"
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

/// Registers and progress of a queue of descriptors: the board's, whose lists address all chips, or
/// that of one chip's control processor. Lists of different queues are ordered only by the host,
/// which waits for completions.
struct CommandQueue {
  std::optional<unsigned> chip;  ///< owner; none: the board
  std::uint64_t chips = 0;       ///< bit c: its lists may name chip c
  QueueRegisters registers = queue_registers({});

  std::uint64_t base = 0, entries = 0;  ///< ring at the first doorbell
  std::uint64_t sequence = 0;           ///< sequence number of the current or last descriptor
  bool failed = false;                  ///< the ring is invalid
  std::vector<std::uint64_t> results;   ///< results of the last executed list, for Resend
  std::uint64_t results_of = 0;         ///< sequence number of that list
  std::vector<Completion> completions;  ///< the last retained_completions, by sequence number

  /// The retained completion of a sequence number.
  Completion& completion(std::uint64_t number) {
    if (completions.empty()) completions.resize(retained_completions);
    return completions[number % retained_completions];
  }
};

class BoardHardware {
 public:
  /// `bar` has bar_bytes, initially zero, and is shared with the host; `memory` is the host memory
  /// that the board may reach. Both outlive the board. Errors are those of Board's constructor.
  BoardHardware(HardwareConfig config, std::byte* bar, HostMemory& memory, HardwareSignals signals,
                std::vector<Fault> faults = {});

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
  std::atomic_ref<std::uint64_t> reg(Register r) const noexcept;
  std::uint64_t own(Register r) const noexcept { return own_[static_cast<std::size_t>(r) / 8]; }
  void put(Register r, std::uint64_t value) noexcept;
  void increment(Register r, std::uint64_t by = 1) noexcept;
  void send_heartbeat() const noexcept;
  void put_identity() noexcept;
  void put_status() noexcept;
  void put_chip_status(unsigned chip) noexcept;
  void reset(std::uint64_t control);

  bool reset_requested() const noexcept;
  bool rung(const CommandQueue& queue) const noexcept;
  void serve(CommandQueue& queue);
  void fail_ring(CommandQueue& queue, const std::string& why);
  void fetch(CommandQueue& queue);
  void process(CommandQueue& queue, const Descriptor& d);
  CompletionStatus check(const CommandQueue& queue, const Descriptor& d) const noexcept;

  // list_work.cpp
  void execute(CommandQueue& queue, const Descriptor& d, Completion& c);
  bool fetch_list(const Descriptor& d, Completion& c);
  bool within_queue(const CommandQueue& queue, Completion& c) const;
  void run_list(CommandQueue& queue, Completion& c);
  void resend(CommandQueue& queue, const Descriptor& d, Completion& c);
  bool send_results(const CommandQueue& queue, const Descriptor& d, std::uint64_t first,
                    std::uint64_t words, Completion& c);
  void finish(CommandQueue& queue, const Descriptor& d, Completion c);
  void account(const CommandQueue& queue, const Completion& c);
  void account_chip(const CommandQueue& queue, const Completion& c, unsigned chip, bool ran);
  const Fault* fault(FaultKind kind) const noexcept { return find_fault(faults_, kind, fetched_); }
  bool flip(FaultKind kind, std::uint64_t* words, std::uint64_t count) const noexcept;

  HardwareConfig config_;
  std::byte* bar_;
  HostMemory& memory_;
  HardwareSignals signals_;
  std::vector<Fault> faults_;
  std::unique_ptr<Board> board_;
  /// The board's own copy of the registers that it writes; the shared ones are not trusted.
  std::array<std::uint64_t, host_registers / 8> own_{};
  std::vector<CommandQueue> queues_;  ///< the board's, then the chips'
  std::uint64_t fetched_ = 0;         ///< descriptors of all queues since the reset
  std::uint64_t halted_ = 0;          ///< bit c: chip c skips lists until one resumes
  bool stuck_ = false;
  std::vector<std::uint64_t> chip_bits_;  ///< bits chip_error and chip_by_board of ChipStatus
  CommandList list_;                      ///< current list
};

}  // namespace gdr
