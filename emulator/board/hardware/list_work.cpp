// Processing of a list: fetch, check, execution, results, completion and status registers. Commands
// and payload are copied from shared memory before use.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/hardware.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

constexpr std::uint64_t command_words = sizeof(Command) / word_bytes;

void put_text(char* to, std::size_t size, const std::string& text) noexcept {
  std::memset(to, 0, size);
  std::memcpy(to, text.data(), std::min(size - 1, text.size()));
}

std::uint64_t instructions_of(const Program* program) noexcept {
  std::uint64_t n = 0;
  if (program != nullptr)
    for (const auto& section : program->sections) n += section.size();
  return n;
}

}  // namespace

/// Copies the list from host memory. False on failure, with the reason in `c`.
bool BoardHardware::fetch_list(const Descriptor& d, Completion& c) {
  c.status = CompletionStatus::TooLarge;
  if (d.command_count > max_list_commands) return false;
  const std::uint64_t command_total = d.command_count * command_words;
  c.status = CompletionStatus::BadAddress;
  if (!memory_.contains(d.commands, command_total) ||
      !memory_.contains(d.payload, d.payload_words) || !memory_.contains(d.results, d.result_words))
    return false;
  list_.commands.resize(d.command_count);
  list_.payload.resize(d.payload_words);
  const auto copy = [&](std::uint64_t from, std::uint64_t* to, std::uint64_t n, FaultKind flipped) {
    const std::optional<std::uint64_t> sum = memory_.read(from, {to, n});
    return sum && flip(flipped, to, n) ? checksum({to, n}) : sum;
  };
  const auto commands = copy(d.commands, reinterpret_cast<std::uint64_t*>(list_.commands.data()),
                             command_total, FaultKind::FlipCommand);
  if (!commands) return false;
  const auto payload =
      copy(d.payload, list_.payload.data(), d.payload_words, FaultKind::FlipPayload);
  if (!payload) return false;
  increment(Register::BytesIn, sizeof(Descriptor) + (command_total + d.payload_words) * word_bytes);
  if (join_checksums(*commands, *payload) != d.data_checksum) {
    c.status = CompletionStatus::BadChecksum;
    increment(Register::ChecksumErrors);
    return false;
  }
  return true;
}

/// Lists of a chip's queue may address only that chip.
bool BoardHardware::within_queue(const CommandQueue& queue, Completion& c) const {
  if (!queue.chip) return true;
  const auto other = std::ranges::find_if(
      list_.commands, [&](const Command& command) { return command.chips != queue.chips; });
  if (other == list_.commands.end()) return true;
  c.status = CompletionStatus::Refused;
  c.category = static_cast<std::uint32_t>(ErrorCategory::Device);
  c.command = static_cast<std::uint64_t>(other - list_.commands.begin());
  put_text(c.message, sizeof(c.message),
           "command " + std::to_string(c.command) + ": a list in the queue of chip " +
               std::to_string(*queue.chip) + " names other chips; use the board's queue");
  return false;
}

void BoardHardware::run_list(CommandQueue& queue, Completion& c) {
  const Stopwatch timer;
  // The host cancels a list through registers, which are polled with every heartbeat.
  std::stop_source stop;
  const WorkMonitor monitor{
      stop.get_token(), [&] {
        send_heartbeat();
        if (reg(Register::Stop).load(std::memory_order_relaxed) != 0 || reset_requested())
          stop.request_stop();
      }};
  const auto refused = [&](ErrorCategory category, const char* why) {
    c.status = CompletionStatus::Refused;
    c.category = static_cast<std::uint32_t>(category);
    c.command = board_->commands_done();
    put_text(c.message, sizeof(c.message), why);
  };
  try {
    const MonitoredScope scope(monitor);
    board_->execute(list_, queue.results);
    flip(FaultKind::WrongResult, queue.results.data(), queue.results.size());
    c.status = CompletionStatus::Done;
  } catch (const Cancelled&) {
    c.status = CompletionStatus::Stopped;
    c.command = board_->commands_done();
  } catch (const Error& e) {
    refused(e.category(), e.what());
  } catch (const std::bad_alloc&) {
    c.status = CompletionStatus::NoMemory;
  } catch (const std::exception& e) {
    refused(ErrorCategory::Internal, e.what());
  }
  increment(Register::BusyNanoseconds, static_cast<std::uint64_t>(timer.seconds() * 1e9));
  increment(Register::Lists);
}

void BoardHardware::execute(CommandQueue& queue, const Descriptor& d, Completion& c) {
  if ((d.flags & descriptor_resume) != 0) halted_ &= ~queue.chips;
  if ((halted_ & queue.chips) != 0) {
    c.status = CompletionStatus::Skipped;
    return;
  }
  try {
    if (fault(FaultKind::NoMemory)) throw std::bad_alloc();
    if (reg(Register::Stop).load() != 0) {
      c.status = CompletionStatus::Stopped;
    } else if (fetch_list(d, c) && within_queue(queue, c)) {
      if ((d.flags & descriptor_reset_counts) != 0) board_->reset_counts();
      queue.results_of = queue.sequence;
      run_list(queue, c);
    }
  } catch (const std::bad_alloc&) {
    c.status = CompletionStatus::NoMemory;
  }
  const bool fits = queue.results.size() <= d.result_words;
  if (c.status == CompletionStatus::Done && fits &&
      !send_results(queue, d, 0, queue.results.size(), c))
    c.status = CompletionStatus::BadAddress;
  if (c.status != CompletionStatus::Done) halted_ |= queue.chips;
  c.result_words = c.status == CompletionStatus::Done ? queue.results.size() : 0;
  c.counts = board_->counts();
  const EngineStats work = board_->engine_stats();
  c.fast_runs = work.fast_runs;
  c.fallback_runs = work.fallback_runs;
  c.compile_seconds = work.compile_seconds;
  c.busy_nanoseconds = own(Register::BusyNanoseconds);
  put_text(c.reason, sizeof(c.reason), work.reason);
  if (c.status == CompletionStatus::Done && !fits) c.status = CompletionStatus::ResultsHeld;
}

void BoardHardware::resend(CommandQueue& queue, const Descriptor& d, Completion& c) {
  const bool retained = d.subject != 0 && d.subject < queue.sequence &&
                        queue.sequence - d.subject < retained_completions &&
                        queue.completion(d.subject).sequence == d.subject;
  c.status = CompletionStatus::NotHeld;
  if (!retained) return;
  const Completion last = queue.completion(d.subject);
  if (d.result_words > 0) {
    if (d.subject != queue.results_of || d.first_result > queue.results.size() ||
        d.result_words > queue.results.size() - d.first_result)
      return;
  }
  c = last;
  if (send_results(queue, d, d.result_words > 0 ? d.first_result : 0, d.result_words, c)) return;
  c = {};
  c.status = CompletionStatus::BadAddress;
}

/// Writes results to host memory. False if it is not mapped.
bool BoardHardware::send_results(const CommandQueue& queue, const Descriptor& d,
                                 std::uint64_t first, std::uint64_t words, Completion& c) {
  const std::span<const std::uint64_t> results(queue.results.data() + first, words);
  if (!memory_.contains(d.results, words)) return false;
  const std::optional<std::uint64_t> sum = memory_.write(d.results, results);
  if (!sum) return false;
  c.result_checksum = *sum;
  if (fault(FaultKind::FlipResult)) {
    std::vector<std::uint64_t> flipped(results.begin(), results.end());
    if (flip(FaultKind::FlipResult, flipped.data(), words)) memory_.write(d.results, flipped);
  }
  increment(Register::BytesOut, words * word_bytes);
  return true;
}

/// Injects a fault of this kind, if one is active. Whether it has changed the words.
bool BoardHardware::flip(FaultKind kind, std::uint64_t* words, std::uint64_t count) const noexcept {
  const Fault* const f = fault(kind);
  if (f == nullptr || count == 0) return false;
  const std::uint64_t bit = f->value % (count * 64);
  words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
  return true;
}

/// Updates the registers of the board and of the list's chips.
void BoardHardware::account(const CommandQueue& queue, const Completion& c) {
  const bool failed = !succeeded(c.status) && c.status != CompletionStatus::Skipped;
  if (failed) {
    increment(Register::Refused);
    if (!queue.chip) {
      put(queue.registers.error, static_cast<std::uint64_t>(c.status));
      put(queue.registers.error_sequence, queue.sequence);
    }
    if (signals_.log)
      signals_.log("list " + std::to_string(queue.sequence) +
                   (queue.chip ? " of chip " + std::to_string(*queue.chip) : "") + ": " +
                   std::string(c.message[0] != 0 ? std::string_view(c.message)
                                                 : completion_status_text(c.status)));
  }
  const bool ran = queue.results_of == queue.sequence;
  for (unsigned chip = 0; chip < config_.geometry.chips_per_board; ++chip)
    if (takes_part(queue.chips, chip)) account_chip(queue, c, chip, ran);
  put_status();
}

void BoardHardware::account_chip(const CommandQueue& queue, const Completion& c, unsigned chip,
                                 bool ran) {
  const auto at = [&](Register r) { return of_chip(r, chip); };
  const std::size_t size = ran ? list_.commands.size() : 0;
  // The rejected command of a failed list counts as well.
  const std::size_t done =
      std::min(size, ran ? board_->commands_done() + (succeeded(c.status) ? 0 : 1) : 0);
  std::uint64_t commands = 0;
  for (std::size_t k = 0; k < done; ++k)
    commands += takes_part(chips_of(list_.commands[k]), chip) ? 1 : 0;
  increment(at(Register::ChipCommands), commands);
  put(at(Register::ChipInstructions), instructions_of(board_->program(chip)));
  const bool affected =
      queue.chip || (c.command < size && takes_part(chips_of(list_.commands[c.command]), chip));
  if (succeeded(c.status)) {
    if (commands > 0) chip_bits_[chip] = 0;
  } else if (c.status != CompletionStatus::Skipped && affected) {
    chip_bits_[chip] = chip_error | (queue.chip ? 0 : chip_by_board);
    put(at(Register::ChipError), static_cast<std::uint64_t>(c.status));
    put(at(Register::ChipErrorCommand), c.command);
    put(at(Register::ChipErrorSequence), queue.sequence);
    if (queue.chip) increment(at(Register::ChipRefused));
  }
  put_chip_status(chip);
}

void BoardHardware::finish(CommandQueue& queue, const Descriptor& d, Completion c) {
  if (reset_requested()) return;  // the host waits for no completion
  constexpr std::uint64_t words = sizeof(Completion) / word_bytes;
  c.sequence = queue.sequence;
  c.checksum = 0;
  c.checksum = checksum(as_words(c));
  flip(FaultKind::FlipCompletion, as_words(c).data(), words);
  if (!memory_.contains(d.completion, words) ||
      !memory_.write(d.completion + word_bytes, as_words(c).subspan(1)) ||
      !memory_.publish(d.completion, c.sequence))
    return fail_ring(queue, "a completion is outside of the mapped memory");
  increment(Register::BytesOut, sizeof(Completion));
  send_heartbeat();
  // Sequentially consistent with the mask: a host that set it and read an old head is interrupted.
  own_[static_cast<std::size_t>(queue.registers.head) / word_bytes] = queue.sequence;
  reg(queue.registers.head).store(queue.sequence, std::memory_order_seq_cst);
  if (reg(Register::InterruptMask).load(std::memory_order_seq_cst) == 0) return;
  if (fault(FaultKind::LoseInterrupt)) return;
  increment(Register::Interrupts);
  if (signals_.interrupt) signals_.interrupt();
}

}  // namespace gdr
