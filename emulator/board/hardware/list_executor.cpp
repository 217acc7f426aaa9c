#include "emulator/board/hardware/list_executor.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "emulator/board/hardware/checksum.hpp"
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

}  // namespace

/// Copies the list from host memory. False on failure, with the reason in `c`.
bool ListExecutor::fetch_list(const Descriptor& d, Completion& c) {
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
    return sum && faults_.flip(flipped, to, n) ? checksum({to, n}) : sum;
  };
  const auto commands = copy(d.commands, reinterpret_cast<std::uint64_t*>(list_.commands.data()),
                             command_total, FaultKind::FlipCommand);
  if (!commands) return false;
  const auto payload =
      copy(d.payload, list_.payload.data(), d.payload_words, FaultKind::FlipPayload);
  if (!payload) return false;
  registers_.increment(Register::BytesIn,
                       sizeof(Descriptor) + (command_total + d.payload_words) * word_bytes);
  if (join_checksums(*commands, *payload) != d.data_checksum) {
    c.status = CompletionStatus::BadChecksum;
    registers_.increment(Register::ChecksumErrors);
    return false;
  }
  return true;
}

/// Lists of a chip's queue may address only that chip.
bool ListExecutor::is_within_queue(const CommandQueue& queue, Completion& c) const {
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

void ListExecutor::run_list(CommandQueue& queue, Completion& c) {
  const Stopwatch timer;
  // The host cancels a list through registers, which are polled with every heartbeat.
  std::stop_source stop;
  const WorkMonitor monitor{stop.get_token(), [&] {
                              registers_.send_heartbeat();
                              if (registers_.read(Register::Stop, std::memory_order_relaxed) != 0 ||
                                  registers_.reset_requested())
                                stop.request_stop();
                            }};
  const auto refused = [&](ErrorCategory category, const char* why) {
    c.status = CompletionStatus::Refused;
    c.category = static_cast<std::uint32_t>(category);
    c.command = board_.commands_done();
    put_text(c.message, sizeof(c.message), why);
  };
  try {
    const MonitoredScope scope(monitor);
    board_.execute(list_, queue.results);
    faults_.flip(FaultKind::WrongResult, queue.results.data(), queue.results.size());
    c.status = CompletionStatus::Done;
  } catch (const Cancelled&) {
    c.status = CompletionStatus::Stopped;
    c.command = board_.commands_done();
  } catch (const Error& e) {
    refused(e.category(), e.what());
  } catch (const std::bad_alloc&) {
    c.status = CompletionStatus::NoMemory;
  } catch (const std::exception& e) {
    refused(ErrorCategory::Internal, e.what());
  }
  registers_.increment(Register::BusyNanoseconds,
                       static_cast<std::uint64_t>(timer.seconds() * 1e9));
  registers_.increment(Register::Lists);
}

void ListExecutor::execute(CommandQueue& queue, const Descriptor& d, Completion& c) {
  try {
    if (faults_.active(FaultKind::NoMemory)) throw std::bad_alloc();
    if (registers_.read(Register::Stop) != 0) {
      c.status = CompletionStatus::Stopped;
    } else if (fetch_list(d, c) && is_within_queue(queue, c)) {
      if ((d.flags & descriptor_reset_counts) != 0) board_.reset_counts();
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
  c.result_words = c.status == CompletionStatus::Done ? queue.results.size() : 0;
  report_work(c);
  if (c.status == CompletionStatus::Done && !fits) c.status = CompletionStatus::ResultsHeld;
}

void ListExecutor::report_work(Completion& c) const {
  c.counts = board_.counts();
  const EngineStats work = board_.engine_stats();
  c.fast_runs = work.fast_runs;
  c.fallback_runs = work.fallback_runs;
  c.compile_seconds = work.compile_seconds;
  c.busy_nanoseconds = registers_.own(Register::BusyNanoseconds);
  put_text(c.reason, sizeof(c.reason), work.reason);
}

void ListExecutor::resend(CommandQueue& queue, const Descriptor& d, Completion& c) {
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
bool ListExecutor::send_results(const CommandQueue& queue, const Descriptor& d, std::uint64_t first,
                                std::uint64_t words, Completion& c) {
  const std::span<const std::uint64_t> results(queue.results.data() + first, words);
  if (!memory_.contains(d.results, words)) return false;
  const std::optional<std::uint64_t> sum = memory_.write(d.results, results);
  if (!sum) return false;
  c.result_checksum = *sum;
  if (faults_.active(FaultKind::FlipResult)) {
    std::vector<std::uint64_t> flipped(results.begin(), results.end());
    if (faults_.flip(FaultKind::FlipResult, flipped.data(), words))
      memory_.write(d.results, flipped);
  }
  registers_.increment(Register::BytesOut, words * word_bytes);
  return true;
}

}  // namespace gdr
