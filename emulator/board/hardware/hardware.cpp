// The board's side of its registers and rings. Everything in shared memory may change at any time:
// a descriptor is copied first, then checked, then used, and lengths are bounded by the mapped
// memory.
#include "emulator/board/hardware/hardware.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"

namespace gdr {
namespace {

/// Up to 16 characters as two registers.
std::array<std::uint64_t, 2> name_words(std::string_view name) noexcept {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), name.data(), std::min(name.size(), sizeof(words)));
  return words;
}

/// Whether the board can process a descriptor.
CompletionStatus check_descriptor(const CommandQueue& queue, const Descriptor& d) noexcept {
  Descriptor copy = d;
  const auto words = as_words(copy);
  if (checksum(words.first(words.size() - 1)) != d.checksum) return CompletionStatus::BadDescriptor;
  const bool known = d.kind == DescriptorKind::Execute || d.kind == DescriptorKind::Resend;
  if (!known || (d.flags & ~std::uint32_t{descriptor_resume | descriptor_reset_counts}) != 0 ||
      (d.reserved[0] | d.reserved[1] | d.reserved[2]) != 0)
    return CompletionStatus::BadDescriptor;
  if (d.sequence != queue.sequence) return CompletionStatus::BadSequence;
  return CompletionStatus::Done;
}

}  // namespace

BoardHardware::BoardHardware(HardwareConfig config, std::byte* bar, HostMemory& memory,
                             HardwareSignals signals, std::vector<Fault> faults)
    : config_(std::move(config)),
      registers_(bar),
      memory_(memory),
      signals_(std::move(signals)),
      faults_(std::move(faults)) {
  reset(registers_.read(Register::Control));
}

void BoardHardware::put_identity() noexcept {
  const Geometry& g = config_.geometry;
  const std::pair<Register, std::uint64_t> values[] = {
      {Register::Identity, board_identity},
      {Register::Version, board_version},
      {Register::MemoryBytes, g.dram_bytes},
      {Register::ClockHz, std::bit_cast<std::uint64_t>(g.clock_hz)},
      {Register::Capabilities,
       (config_.engine->capabilities().exact() ? capability_exact : 0) | capability_emulated |
           (config_.engine->capabilities().multiplies_all_bits ? capability_all_bits : 0)},
      {Register::Threads, config_.threads},
      {Register::MaxCommands, max_list_commands},
      {Register::MaxResults, config_.max_results}};
  for (const auto& [r, value] : values) registers_.put(r, value);
  for (const SizeRegister& size : size_registers) registers_.put(size.reg, g.*size.field);
  const auto names = {std::pair{Register::EngineName, config_.engine->name()},
                      std::pair{Register::IsaName, isa_name(config_.engine->isa())}};
  for (const auto& [r, name] : names) {
    const auto words = name_words(name);
    registers_.put(r, words[0]);
    registers_.put(static_cast<Register>(static_cast<std::uint32_t>(r) + word_bytes), words[1]);
  }
}

/// Resets the board to its initial state.
void BoardHardware::reset(std::uint64_t control) {
  status_.reset();
  lists_.reset();
  queues_ = make_queues(config_.geometry.chips_per_board);
  faults_.restart();
  registers_.clear();
  Board board(config_.geometry, config_.engine, config_.threads);
  board.limit_results(config_.max_results);
  lists_.emplace(std::move(board), registers_, memory_, faults_);
  put_identity();
  status_.emplace(registers_, queues_, *lists_);
  registers_.put(Register::Resets, control);
}

bool BoardHardware::rung(const CommandQueue& queue) const noexcept {
  return !queue.failed &&
         registers_.read(queue.registers.doorbell, std::memory_order_acquire) != queue.sequence;
}

bool BoardHardware::has_work() const noexcept {
  if (registers_.reset_requested()) return true;
  return !stuck_ && std::ranges::any_of(queues_, [&](const CommandQueue& q) { return rung(q); });
}

void BoardHardware::set_asleep(bool asleep) noexcept {
  const std::uint64_t status = registers_.own(Register::Status);
  // Sequentially consistent with the host's doorbells: either the host reads this bit, or
  // has_work() reads its doorbell.
  registers_.put_in_order(Register::Status,
                          asleep ? status | status_asleep : status & ~status_asleep);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Marks a queue as failed; other queues are not affected.
void BoardHardware::fail_ring(CommandQueue& queue, const std::string& why) {
  queue.failed = true;
  status_->fail_ring(queue);
  if (signals_.log) signals_.log("the ring" + queue.owner_text() + " failed: " + why);
  if (signals_.interrupt) signals_.interrupt();
}

/// Processes one descriptor of each queue in turn, until no queue has any.
bool BoardHardware::step() {
  const std::uint64_t control = registers_.read(Register::Control);
  if (control != registers_.own(Register::Resets)) {
    reset(control);
    return true;
  }
  bool worked = false;
  for (bool more = true; more;) {
    more = false;
    for (CommandQueue& queue : queues_) {
      if (stuck_ || registers_.reset_requested() || !rung(queue)) continue;
      serve(queue);
      more = worked = true;
    }
  }
  return worked;
}

void BoardHardware::serve(CommandQueue& queue) {
  const std::uint64_t tail = registers_.read(queue.registers.doorbell, std::memory_order_acquire);
  if (queue.entries == 0) {
    queue.base = registers_.read(queue.registers.ring_base);
    queue.entries = registers_.read(queue.registers.ring_entries);
  }
  if (!std::has_single_bit(queue.entries) || queue.entries > max_ring_entries)
    fail_ring(queue, "it has " + std::to_string(queue.entries) + " entries");
  else if (tail - queue.sequence > queue.entries)
    fail_ring(queue, "doorbell " + std::to_string(tail) + " after " +
                         std::to_string(queue.sequence) + " exceeds " +
                         std::to_string(queue.entries) + " entries");
  else
    fetch(queue);
}

void BoardHardware::fetch(CommandQueue& queue) {
  constexpr std::uint64_t words = sizeof(Descriptor) / word_bytes;
  const std::uint64_t bus = queue.base + queue.sequence % queue.entries * sizeof(Descriptor);
  Descriptor d;
  if (!memory_.contains(bus, words) || !memory_.read(bus, as_words(d)))
    return fail_ring(queue, "its descriptors are outside of the mapped memory");
  ++queue.sequence;
  faults_.next_descriptor();
  if (const Fault* const f = faults_.active(FaultKind::Delay))
    std::this_thread::sleep_for(std::chrono::milliseconds(f->value));
  if (faults_.active(FaultKind::Crash)) std::_Exit(9);
  while (faults_.active(FaultKind::HangWithHeartbeat)) {
    registers_.send_heartbeat();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (faults_.active(FaultKind::Hang)) {
    stuck_ = true;
    return;
  }
  process(queue, d);
}

void BoardHardware::process(CommandQueue& queue, const Descriptor& d) {
  Completion c;
  c.status = check_descriptor(queue, d);
  if (c.status != CompletionStatus::Done) {
    status_->halt(queue.chips);
  } else if (d.kind == DescriptorKind::Execute) {
    execute(queue, d, c);
  } else {
    lists_->resend(queue, d, c);
  }
  if (d.kind != DescriptorKind::Resend) {
    c.sequence = queue.sequence;
    queue.completion(queue.sequence) = c;
    log_failure(queue, c);
    status_->account(queue, c);
  }
  if (faults_.active(FaultKind::CrashAfterExecution)) std::_Exit(9);
  finish(queue, d, c);
}

void BoardHardware::execute(CommandQueue& queue, const Descriptor& d, Completion& c) {
  if ((d.flags & descriptor_resume) != 0) status_->resume(queue.chips);
  if (status_->is_halted(queue.chips)) {
    c.status = CompletionStatus::Skipped;
    return;
  }
  lists_->execute(queue, d, c);
  if (!succeeded(c.status)) status_->halt(queue.chips);
}

void BoardHardware::log_failure(const CommandQueue& queue, const Completion& c) const {
  if (!signals_.log || succeeded(c.status) || c.status == CompletionStatus::Skipped) return;
  const std::string why(c.message[0] != 0 ? std::string_view(c.message)
                                          : completion_status_text(c.status));
  signals_.log("list " + std::to_string(queue.sequence) + queue.owner_text() + ": " + why);
}

void BoardHardware::finish(CommandQueue& queue, const Descriptor& d, Completion c) {
  if (registers_.reset_requested()) return;  // the host waits for no completion
  constexpr std::uint64_t words = sizeof(Completion) / word_bytes;
  c.sequence = queue.sequence;
  c.checksum = 0;
  c.checksum = checksum(as_words(c));
  faults_.flip(FaultKind::FlipCompletion, as_words(c).data(), words);
  if (!memory_.contains(d.completion, words) ||
      !memory_.write(d.completion + word_bytes, as_words(c).subspan(1)) ||
      !memory_.publish(d.completion, c.sequence))
    return fail_ring(queue, "a completion is outside of the mapped memory");
  registers_.increment(Register::BytesOut, sizeof(Completion));
  registers_.send_heartbeat();
  // Sequentially consistent with the mask: a host that set it and read an old head is interrupted.
  registers_.put_in_order(queue.registers.head, queue.sequence);
  if (registers_.read(Register::InterruptMask) == 0) return;
  if (faults_.active(FaultKind::LoseInterrupt)) return;
  registers_.increment(Register::Interrupts);
  if (signals_.interrupt) signals_.interrupt();
}

}  // namespace gdr
