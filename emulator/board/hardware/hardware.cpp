// The board's side of its registers and rings. Everything in shared memory may change at any time:
// a descriptor is copied first, then checked, then used, and lengths are bounded by the mapped
// memory.
#include "emulator/board/hardware/hardware.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
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

/// The queues of a board: its own, then one for each chip.
std::vector<CommandQueue> make_queues(unsigned chips) {
  std::vector<CommandQueue> queues(1);
  queues[0].chips = chips >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << chips) - 1;
  for (unsigned c = 0; c < chips; ++c) {
    CommandQueue& queue = queues.emplace_back();
    queue.chip = c;
    queue.chips = std::uint64_t{1} << c;
    queue.registers = queue_registers(c);
  }
  return queues;
}

}  // namespace

std::string_view completion_status_text(CompletionStatus status) noexcept {
  constexpr std::string_view texts[] = {"nothing",
                                        "done",
                                        "a command was refused",
                                        "skipped after a failed list",
                                        "the descriptor is invalid",
                                        "the sequence number is not consecutive",
                                        "an address is outside of the memory mapped for the board",
                                        "the checksum of commands or payload is wrong",
                                        "the list has more commands than the maximum of the board",
                                        "the board is out of memory",
                                        "the results did not fit; Resend fetches them",
                                        "the board no longer holds these results",
                                        "stopped by the host"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(texts) ? texts[number] : "unknown status";
}

BoardHardware::BoardHardware(HardwareConfig config, std::byte* bar, HostMemory& memory,
                             HardwareSignals signals, std::vector<Fault> faults)
    : config_(std::move(config)),
      bar_(bar),
      memory_(memory),
      signals_(std::move(signals)),
      faults_(std::move(faults)) {
  reset(reg(Register::Control).load());
}

std::atomic_ref<std::uint64_t> BoardHardware::reg(Register r) const noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bar_ + static_cast<std::size_t>(r)));
}

void BoardHardware::put(Register r, std::uint64_t value) noexcept {
  own_[static_cast<std::size_t>(r) / word_bytes] = value;
  reg(r).store(value, std::memory_order_release);
}

void BoardHardware::increment(Register r, std::uint64_t by) noexcept { put(r, own(r) + by); }

/// Increments the heartbeat; called by several threads.
void BoardHardware::send_heartbeat() const noexcept {
  reg(Register::Heartbeat).fetch_add(1, std::memory_order_relaxed);
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
  for (const auto& [r, value] : values) put(r, value);
  for (const SizeRegister& size : size_registers) put(size.reg, g.*size.field);
  const auto names = {std::pair{Register::EngineName, config_.engine->name()},
                      std::pair{Register::IsaName, isa_name(config_.engine->isa())}};
  for (const auto& [r, name] : names) {
    const auto words = name_words(name);
    put(r, words[0]);
    put(static_cast<Register>(static_cast<std::uint32_t>(r) + word_bytes), words[1]);
  }
}

void BoardHardware::put_status() noexcept {
  put(Register::Status,
      (queues_.front().failed ? status_failed : status_ready) | (halted_ != 0 ? status_halted : 0));
}

void BoardHardware::put_chip_status(unsigned chip) noexcept {
  put(of_chip(Register::ChipStatus, chip),
      chip_bits_[chip] | (board_->program(chip) != nullptr ? chip_loaded : 0) |
          (takes_part(halted_, chip) ? chip_halted : 0) |
          (queues_[chip + 1].failed ? chip_failed : 0));
}

/// Resets the board to its initial state.
void BoardHardware::reset(std::uint64_t control) {
  board_.reset();
  list_ = {};
  queues_ = make_queues(config_.geometry.chips_per_board);
  chip_bits_.assign(config_.geometry.chips_per_board, 0);
  fetched_ = halted_ = 0;
  for (std::size_t word = 0; word < own_.size(); ++word)
    put(static_cast<Register>(word * word_bytes), 0);
  board_ = std::make_unique<Board>(config_.geometry, config_.engine, config_.threads);
  board_->limit_results(config_.max_results);
  put_identity();
  put_status();
  put(Register::Resets, control);
}

bool BoardHardware::rung(const CommandQueue& queue) const noexcept {
  return !queue.failed &&
         reg(queue.registers.doorbell).load(std::memory_order_acquire) != queue.sequence;
}

bool BoardHardware::reset_requested() const noexcept {
  return reg(Register::Control).load() != own(Register::Resets);
}

bool BoardHardware::has_work() const noexcept {
  if (reset_requested()) return true;
  return !stuck_ && std::ranges::any_of(queues_, [&](const CommandQueue& q) { return rung(q); });
}

void BoardHardware::set_asleep(bool asleep) noexcept {
  std::uint64_t& status = own_[static_cast<std::size_t>(Register::Status) / word_bytes];
  status = asleep ? status | status_asleep : status & ~status_asleep;
  // Sequentially consistent with the host's doorbells: either the host reads this bit, or
  // has_work() reads its doorbell.
  reg(Register::Status).store(status, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Marks a queue as failed; other queues are not affected.
void BoardHardware::fail_ring(CommandQueue& queue, const std::string& why) {
  queue.failed = true;
  increment(Register::Refused);
  put(queue.registers.error, static_cast<std::uint64_t>(CompletionStatus::BadAddress));
  put(queue.registers.error_sequence, queue.sequence + 1);
  if (queue.chip) {
    increment(of_chip(Register::ChipRefused, *queue.chip));
    put_chip_status(*queue.chip);
  } else {
    put_status();
  }
  const std::string whose = queue.chip ? " of chip " + std::to_string(*queue.chip) : "";
  if (signals_.log) signals_.log("the ring" + whose + " failed: " + why);
  if (signals_.interrupt) signals_.interrupt();
}

/// Processes one descriptor of each queue in turn, until no queue has any.
bool BoardHardware::step() {
  const std::uint64_t control = reg(Register::Control).load();
  if (control != own(Register::Resets)) {
    reset(control);
    return true;
  }
  bool worked = false;
  for (bool more = true; more;) {
    more = false;
    for (CommandQueue& queue : queues_) {
      if (stuck_ || reset_requested() || !rung(queue)) continue;
      serve(queue);
      more = worked = true;
    }
  }
  return worked;
}

void BoardHardware::serve(CommandQueue& queue) {
  const std::uint64_t tail = reg(queue.registers.doorbell).load(std::memory_order_acquire);
  if (queue.entries == 0) {
    queue.base = reg(queue.registers.ring_base).load();
    queue.entries = reg(queue.registers.ring_entries).load();
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
  ++fetched_;
  if (const Fault* const f = fault(FaultKind::Delay))
    std::this_thread::sleep_for(std::chrono::milliseconds(f->value));
  if (fault(FaultKind::Crash)) std::_Exit(9);
  while (fault(FaultKind::HangWithHeartbeat)) {
    send_heartbeat();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (fault(FaultKind::Hang)) {
    stuck_ = true;
    return;
  }
  process(queue, d);
}

CompletionStatus BoardHardware::check(const CommandQueue& queue,
                                      const Descriptor& d) const noexcept {
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

void BoardHardware::process(CommandQueue& queue, const Descriptor& d) {
  Completion c;
  c.status = check(queue, d);
  if (c.status == CompletionStatus::Done) {
    d.kind == DescriptorKind::Execute ? execute(queue, d, c) : resend(queue, d, c);
  } else {
    halted_ |= queue.chips;
  }
  if (d.kind != DescriptorKind::Resend) {
    c.sequence = queue.sequence;
    queue.completion(queue.sequence) = c;
    account(queue, c);
  }
  if (fault(FaultKind::CrashAfterExecution)) std::_Exit(9);
  finish(queue, d, c);
}

}  // namespace gdr
