// The board's side of the ring. Everything in shared memory may change at any time: a descriptor, a
// command or a payload is copied first, then checked, then used, and lengths are bounded by what
// the host has lent.
#include "emulator/board/hardware/hardware.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/parallel.hpp"
#include "emulator/engine/products/kernels.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t command_words = sizeof(Command) / word_bytes;

template <typename T>
std::span<std::uint64_t> as_words(T& value) noexcept {
  static_assert(sizeof(T) % word_bytes == 0 && std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<std::uint64_t*>(&value), sizeof(T) / word_bytes};
}

void put_text(char* to, std::size_t size, const std::string& text) noexcept {
  std::memset(to, 0, size);
  std::memcpy(to, text.data(), std::min(size - 1, text.size()));
}

/// Up to 16 letters as two registers.
std::array<std::uint64_t, 2> name_words(std::string_view name) noexcept {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), name.data(), std::min(name.size(), sizeof(words)));
  return words;
}

std::uint64_t instructions_of(const Program* program) noexcept {
  std::uint64_t n = 0;
  if (program != nullptr)
    for (const auto& section : program->sections) n += section.size();
  return n;
}

}  // namespace

std::string_view completion_status_text(CompletionStatus status) noexcept {
  constexpr std::string_view texts[] = {
      "nothing",
      "done",
      "a command was refused",
      "skipped after a list that failed",
      "the descriptor is damaged",
      "the sequence number does not follow the one before",
      "an address lies outside the memory that was lent to the board",
      "commands or payload arrived damaged",
      "the list has more commands than the board takes",
      "the board is out of memory",
      "the results did not fit and are held",
      "the board does not hold this any more"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(texts) ? texts[number] : "a status that is not known";
}

BoardHardware::BoardHardware(HardwareParts parts, std::byte* bar, const DmaSpace& space,
                             HardwareSignals signals, std::vector<Fault> faults)
    : parts_(std::move(parts)),
      bar_(bar),
      space_(space),
      signals_(std::move(signals)),
      faults_(std::move(faults)) {
  reset(reg(Register::Control).load());
}

std::atomic_ref<std::uint64_t> BoardHardware::reg(Register r, unsigned chip) const noexcept {
  const std::size_t offset = static_cast<std::size_t>(r) + std::size_t{chip} * chip_stride;
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bar_ + offset));
}

void BoardHardware::put(Register r, std::uint64_t value) noexcept {
  own_[static_cast<std::size_t>(r) / word_bytes] = value;
  reg(r).store(value, std::memory_order_release);
}

void BoardHardware::bump(Register r, std::uint64_t by) noexcept {
  put(r, own_[static_cast<std::size_t>(r) / word_bytes] + by);
}

void BoardHardware::put_identity() noexcept {
  const Geometry& g = parts_.geometry;
  const ProductKernels* const kernels = parts_.engine->products();
  const std::pair<Register, std::uint64_t> values[] = {
      {Register::Identity, board_identity},
      {Register::Version, board_version},
      {Register::Chips, g.chips_per_board},
      {Register::Blocks, g.blocks},
      {Register::Pes, g.pes_per_block},
      {Register::RegisterWords, g.register_words},
      {Register::LocalWords, g.local_words},
      {Register::BroadcastWords, g.broadcast_words},
      {Register::InstructionWords, g.instruction_words},
      {Register::MemoryBytes, g.dram_bytes},
      {Register::ClockHz, std::bit_cast<std::uint64_t>(g.clock_hz)},
      {Register::Capabilities,
       (parts_.engine->exact() ? capability_exact : 0) | capability_emulated |
           (kernels != nullptr && !kernels->exact ? capability_all_bits : 0)},
      {Register::Threads, parts_.threads},
      {Register::MostCommands, most_list_commands},
      {Register::MostResults, parts_.most_results}};
  for (const auto& [r, value] : values) put(r, value);
  const auto names = {std::pair{Register::EngineName, parts_.engine->name()},
                      std::pair{Register::IsaName, isa_name(parts_.engine->isa())}};
  for (const auto& [r, name] : names) {
    const auto words = name_words(name);
    put(r, words[0]);
    put(static_cast<Register>(static_cast<std::uint32_t>(r) + word_bytes), words[1]);
  }
}

/// Everything anew: a board that nobody has used.
void BoardHardware::reset(std::uint64_t control) {
  board_.reset();
  list_ = {};
  results_ = {};
  completions_ = {};
  results_of_ = ring_base_ = ring_entries_ = sequence_ = 0;
  halted_ = failed_ = false;
  for (std::size_t word = 0; word < own_.size(); ++word)
    put(static_cast<Register>(word * word_bytes), 0);
  board_ = std::make_unique<Board>(parts_.geometry, parts_.engine, parts_.threads);
  board_->limit_results(parts_.most_results);
  put_identity();
  put(Register::Status, status_ready);
  put(Register::Resets, control);
}

bool BoardHardware::has_work() const noexcept {
  if (reg(Register::Control).load() != own_[static_cast<std::size_t>(Register::Resets) / 8])
    return true;
  return !failed_ && !stuck_ && reg(Register::Doorbell).load() != sequence_;
}

void BoardHardware::set_asleep(bool asleep) noexcept {
  const std::uint64_t status = own_[static_cast<std::size_t>(Register::Status) / word_bytes];
  own_[static_cast<std::size_t>(Register::Status) / word_bytes] =
      asleep ? status | status_asleep : status & ~status_asleep;
  // In one order with the host's doorbell: either it sees this, or has_work() sees its doorbell.
  reg(Register::Status)
      .store(own_[static_cast<std::size_t>(Register::Status) / word_bytes],
             std::memory_order_seq_cst);
}

void BoardHardware::fail_ring(const std::string& why) {
  failed_ = true;
  put(Register::Error, static_cast<std::uint64_t>(CompletionStatus::BadAddress));
  put(Register::ErrorSequence, sequence_ + 1);
  bump(Register::Refused);
  put(Register::Status, status_failed);
  if (signals_.log) signals_.log("the ring failed: " + why);
  if (signals_.interrupt) signals_.interrupt();
}

bool BoardHardware::step() {
  const std::uint64_t control = reg(Register::Control).load();
  if (control != own_[static_cast<std::size_t>(Register::Resets) / word_bytes]) {
    reset(control);
    return true;
  }
  bool worked = false;
  while (!failed_ && !stuck_) {
    const std::uint64_t tail = reg(Register::Doorbell).load(std::memory_order_acquire);
    if (tail == sequence_) break;
    worked = true;
    if (ring_entries_ == 0) {
      ring_base_ = reg(Register::RingBase).load();
      ring_entries_ = reg(Register::RingEntries).load();
    }
    if (!std::has_single_bit(ring_entries_) || ring_entries_ > most_ring_entries)
      fail_ring("it has " + std::to_string(ring_entries_) + " entries");
    else if (tail - sequence_ > ring_entries_)
      fail_ring("the doorbell says " + std::to_string(tail) + " after " +
                std::to_string(sequence_) + ", with " + std::to_string(ring_entries_) + " entries");
    else
      fetch();
  }
  return worked;
}

void BoardHardware::fetch() {
  constexpr std::uint64_t words = sizeof(Descriptor) / word_bytes;
  const std::uint64_t bus = ring_base_ + sequence_ % ring_entries_ * sizeof(Descriptor);
  const std::uint64_t* const from = space_.words(bus, words);
  if (from == nullptr) return fail_ring("its descriptors lie outside the memory that was lent");
  Descriptor d;
  copy_and_sum(from, as_words(d).data(), words);
  ++sequence_;
  if (const Fault* const f = fault(FaultKind::Delay))
    std::this_thread::sleep_for(std::chrono::milliseconds(f->value));
  if (fault(FaultKind::Die)) std::_Exit(9);
  if (fault(FaultKind::Stick)) {
    stuck_ = true;
    return;
  }
  process(d);
}

CompletionStatus BoardHardware::check(const Descriptor& d) const noexcept {
  Descriptor copy = d;
  const auto words = as_words(copy);
  if (checksum(words.first(words.size() - 1)) != d.checksum) return CompletionStatus::BadDescriptor;
  const bool known = d.kind == DescriptorKind::Execute || d.kind == DescriptorKind::Resend;
  if (!known || (d.flags & ~std::uint32_t{descriptor_resume | descriptor_reset_counts}) != 0 ||
      (d.reserved[0] | d.reserved[1] | d.reserved[2]) != 0)
    return CompletionStatus::BadDescriptor;
  if (d.sequence != sequence_) return CompletionStatus::BadSequence;
  return CompletionStatus::Done;
}

void BoardHardware::process(const Descriptor& d) {
  Completion c;
  c.status = check(d);
  if (c.status == CompletionStatus::Done) {
    d.kind == DescriptorKind::Execute ? execute(d, c) : resend(d, c);
  } else {
    halted_ = true;
  }
  if (d.kind != DescriptorKind::Resend) {
    c.sequence = sequence_;
    completions_[sequence_ % completions_held] = c;
    account(c);
  }
  if (fault(FaultKind::DieLater)) std::_Exit(9);
  finish(d, c);
}

/// Copies the list out of shared memory. False: `c` says why not.
bool BoardHardware::fetch_list(const Descriptor& d, Completion& c) {
  c.status = CompletionStatus::TooLarge;
  if (d.command_count > most_list_commands) return false;
  const std::uint64_t* const commands = space_.words(d.commands, d.command_count * command_words);
  const std::uint64_t* const payload = space_.words(d.payload, d.payload_words);
  c.status = CompletionStatus::BadAddress;
  if (commands == nullptr || payload == nullptr ||
      space_.words(d.results, d.result_words) == nullptr)
    return false;
  list_.commands.resize(d.command_count);
  list_.payload.resize(d.payload_words);
  auto* const to = reinterpret_cast<std::uint64_t*>(list_.commands.data());
  const std::uint64_t command_total = d.command_count * command_words;
  std::uint64_t sums[] = {copy_and_sum(commands, to, command_total),
                          copy_and_sum(payload, list_.payload.data(), d.payload_words)};
  if (fault(FaultKind::FlipCommand) && command_total > 0) {
    flip(FaultKind::FlipCommand, to, command_total);
    sums[0] = checksum({to, command_total});
  }
  if (fault(FaultKind::FlipPayload) && d.payload_words > 0) {
    flip(FaultKind::FlipPayload, list_.payload.data(), d.payload_words);
    sums[1] = checksum(list_.payload);
  }
  bump(Register::BytesIn, sizeof(Descriptor) + (command_total + d.payload_words) * word_bytes);
  if (join_checksums(sums[0], sums[1]) != d.data_checksum) {
    c.status = CompletionStatus::BadChecksum;
    bump(Register::ChecksumErrors);
    return false;
  }
  return true;
}

void BoardHardware::run_list(Completion& c) {
  const auto begin = std::chrono::steady_clock::now();
  count_progress(reinterpret_cast<std::atomic<std::uint64_t>*>(
      bar_ + static_cast<std::size_t>(Register::Heartbeat)));
  try {
    board_->execute(list_, results_);
    flip(FaultKind::WrongResult, results_.data(), results_.size());
    c.status = CompletionStatus::Done;
  } catch (const Error& e) {
    c.status = CompletionStatus::Refused;
    c.category = static_cast<std::uint32_t>(e.category());
    c.command = board_->commands_done();
    put_text(c.message, sizeof(c.message), e.what());
  } catch (const std::bad_alloc&) {
    c.status = CompletionStatus::NoMemory;
  } catch (const std::exception& e) {
    c.status = CompletionStatus::Refused;
    c.category = static_cast<std::uint32_t>(ErrorCategory::Internal);
    c.command = board_->commands_done();
    put_text(c.message, sizeof(c.message), e.what());
  }
  count_progress(nullptr);
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
  bump(Register::BusyNanoseconds, static_cast<std::uint64_t>(spent.count()));
  bump(Register::Lists);
}

void BoardHardware::execute(const Descriptor& d, Completion& c) {
  if ((d.flags & descriptor_resume) != 0) halted_ = false;
  if (halted_) {
    c.status = CompletionStatus::Skipped;
    return;
  }
  try {
    if (fault(FaultKind::NoMemory)) throw std::bad_alloc();
    if (fetch_list(d, c)) {
      if ((d.flags & descriptor_reset_counts) != 0) board_->reset_counts();
      results_of_ = sequence_;
      run_list(c);
    }
  } catch (const std::bad_alloc&) {
    c.status = CompletionStatus::NoMemory;
  }
  halted_ = c.status != CompletionStatus::Done;
  c.result_words = c.status == CompletionStatus::Done ? results_.size() : 0;
  c.counts = board_->counts();
  const EngineWork work = board_->engine_work();
  c.fast_runs = work.fast_runs;
  c.slow_runs = work.slow_runs;
  c.compile_seconds = work.compile_seconds;
  c.busy_nanoseconds = own_[static_cast<std::size_t>(Register::BusyNanoseconds) / word_bytes];
  put_text(c.reason, sizeof(c.reason), work.reason);
  if (c.status != CompletionStatus::Done) return;
  if (c.result_words > d.result_words) {
    c.status = CompletionStatus::ResultsHeld;
  } else {
    send_results(d, 0, c.result_words, c);
  }
}

void BoardHardware::resend(const Descriptor& d, Completion& c) {
  const bool held = d.subject != 0 && d.subject < sequence_ &&
                    sequence_ - d.subject < completions_held &&
                    completions_[d.subject % completions_held].sequence == d.subject;
  c.status = CompletionStatus::NotHeld;
  if (!held) return;
  const Completion last = completions_[d.subject % completions_held];
  if (d.result_words > 0) {
    if (d.subject != results_of_ || d.first_result > results_.size() ||
        d.result_words > results_.size() - d.first_result)
      return;
    if (space_.words(d.results, d.result_words) == nullptr) {
      c.status = CompletionStatus::BadAddress;
      return;
    }
  }
  c = last;
  send_results(d, d.first_result, d.result_words, c);
}

void BoardHardware::send_results(const Descriptor& d, std::uint64_t first, std::uint64_t words,
                                 Completion& c) {
  std::uint64_t* const to = space_.words(d.results, words);  // checked before
  c.result_checksum = copy_and_sum(results_.data() + first, to, words);
  flip(FaultKind::FlipResult, to, words);
  bump(Register::BytesOut, words * word_bytes);
}

void BoardHardware::flip(FaultKind kind, std::uint64_t* words, std::uint64_t count) const noexcept {
  const Fault* const f = fault(kind);
  if (f == nullptr || count == 0) return;
  const std::uint64_t bit = f->value % (count * 64);
  words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
}

/// The registers of the board and of the chips that a list concerned.
void BoardHardware::account(const Completion& c) {
  const bool good = c.status == CompletionStatus::Done || c.status == CompletionStatus::ResultsHeld;
  if (!good) {
    put(Register::Error, static_cast<std::uint64_t>(c.status));
    put(Register::ErrorSequence, sequence_);
    bump(Register::Refused);
    if (signals_.log)
      signals_.log("list " + std::to_string(sequence_) + ": " +
                   std::string(c.message[0] != 0 ? std::string_view(c.message)
                                                 : completion_status_text(c.status)));
  }
  put(Register::Status, status_ready | (halted_ ? status_halted : 0));
  const bool ran = good || c.status == CompletionStatus::Refused;
  if (!ran || results_of_ != sequence_) return;
  const std::size_t done =
      std::min(board_->commands_done() + (good ? 0 : 1), list_.commands.size());
  const std::uint64_t instructions = instructions_of(board_->program());
  for (unsigned chip = 0; chip < parts_.geometry.chips_per_board; ++chip) {
    const auto at = [&](Register r) {
      return static_cast<Register>(static_cast<std::uint32_t>(r) + chip * chip_stride);
    };
    std::uint64_t commands = 0;
    const auto concerns = [&](const Command& k) {
      return k.kind == CommandKind::LoadProgram || ((k.chips >> chip) & 1) != 0;
    };
    for (std::size_t k = 0; k < done; ++k) commands += concerns(list_.commands[k]) ? 1 : 0;
    bump(at(Register::ChipCommands), commands);
    put(at(Register::ChipInstructions), instructions);
    const bool failed =
        !good && c.command < list_.commands.size() && concerns(list_.commands[c.command]);
    if (failed) {
      put(at(Register::ChipError), static_cast<std::uint64_t>(c.status));
      put(at(Register::ChipErrorCommand), c.command);
    }
    put(at(Register::ChipStatus), (instructions > 0 ? chip_loaded : 0) | (failed ? chip_error : 0));
  }
}

void BoardHardware::finish(const Descriptor& d, Completion c) {
  constexpr std::uint64_t words = sizeof(Completion) / word_bytes;
  c.sequence = sequence_;
  c.checksum = 0;
  c.checksum = checksum(as_words(c));
  std::uint64_t* const to = space_.words(d.completion, words);
  if (to == nullptr) return fail_ring("a completion lies outside the memory that was lent");
  flip(FaultKind::FlipCompletion, as_words(c).data(), words);
  copy_and_sum(as_words(c).data() + 1, to + 1, words - 1);
  std::atomic_ref(to[0]).store(c.sequence, std::memory_order_release);
  bump(Register::BytesOut, sizeof(Completion));
  reg(Register::Heartbeat).fetch_add(1, std::memory_order_relaxed);
  // In one order with the mask: a host that set it and sees no head yet is told.
  own_[static_cast<std::size_t>(Register::Head) / word_bytes] = sequence_;
  reg(Register::Head).store(sequence_, std::memory_order_seq_cst);
  if (reg(Register::InterruptMask).load(std::memory_order_seq_cst) == 0) return;
  if (fault(FaultKind::LoseInterrupt)) return;
  bump(Register::Interrupts);
  if (signals_.interrupt) signals_.interrupt();
}

}  // namespace gdr
