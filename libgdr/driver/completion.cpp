// Completion handling: waits for completions in the order of submission, reads results, and repeats
// corrupt transfers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/host/cpu_relax.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/remote_board.hpp"

namespace gdr::driver {
namespace {

constexpr unsigned max_attempts = 4;
constexpr std::chrono::milliseconds min_wait{1}, max_wait{100};

/// The list was not executed, and can be submitted again.
bool not_executed(CompletionStatus status) noexcept {
  return status == CompletionStatus::Skipped || status == CompletionStatus::BadChecksum ||
         status == CompletionStatus::BadDescriptor;
}

std::string milliseconds(double seconds) {
  return std::to_string(std::lround(seconds * 1000)) + " ms";
}

}  // namespace

/// Copies a completion from shared memory to `c`. False if it is missing or corrupt.
bool RemoteBoard::read_completion(const InFlightList& entry, Completion& c) const noexcept {
  const std::uint64_t sequence = entry.descriptor.sequence;
  if (std::atomic_ref(entry.completion->sequence).load(std::memory_order_acquire) != sequence)
    return false;
  copy_and_sum(reinterpret_cast<const std::uint64_t*>(entry.completion), as_words(c).data(),
               as_words(c).size());
  const std::uint64_t sum = std::exchange(c.checksum, 0);
  const bool intact = checksum(as_words(c)) == sum;
  c.checksum = sum;
  return intact;
}

/// Waits until the completion of a list is written. False if the board processed the descriptor
/// without writing a valid completion.
bool RemoteBoard::wait_written(const InFlightList& entry) {
  const std::uint64_t sequence = entry.descriptor.sequence;
  const Ring& ring = rings_[entry.ring];
  const auto written = [&] {
    return std::atomic_ref(entry.completion->sequence).load(std::memory_order_acquire) == sequence;
  };
  const Clock::time_point begin = Clock::now();
  if (polling_.begin()) do {
      if (written()) return true;
      cpu_relax();
    } while (polling_.goes_on());
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  std::uint64_t heartbeat = access_->read(Register::Heartbeat);
  Clock::time_point last_heartbeat = Clock::now();
  std::chrono::nanoseconds interval = min_wait;
  access_->write(Register::InterruptMask, 1);
  for (;;) {
    if (written() || access_->read(ring.registers.head) >= sequence) break;
    if ((access_->read(ring.registers.status) & ring.registers.failed_bit) != 0)
      fail("the board rejected its descriptor ring as invalid; restart the board");
    if (stop_.stop_requested() && !std::exchange(stop_requested_, true))
      access_->write(Register::Stop, 1);
    const WaitResult result = access_->wait(interval);
    if (result == WaitResult::Disconnected && !written())
      fail("its server ended or closed the connection; restart the server");
    interval = std::min<std::chrono::nanoseconds>(2 * interval, max_wait);
    if (const std::uint64_t now = access_->read(Register::Heartbeat); now != heartbeat) {
      heartbeat = now;
      last_heartbeat = Clock::now();
    } else if (seconds_since(last_heartbeat) > timeout_.heartbeat_seconds) {
      fail("no heartbeat for " + milliseconds(timeout_.heartbeat_seconds) +
           "; restart the board, or raise the limit with the device option timeout=SECONDS");
    }
    if (seconds_since(begin) > timeout_.total_seconds)
      fail("the board sends heartbeats, but the command list did not complete within " +
           milliseconds(timeout_.total_seconds) +
           "; restart the board, or raise the limit with the device option timeout=SECONDS");
  }
  access_->write(Register::InterruptMask, 0);
  return written();
}

/// Waits for the completion of a list; requests it again if it is corrupt.
Completion RemoteBoard::await_completion(const InFlightList& entry) {
  Completion c;
  if (wait_written(entry) && read_completion(entry, c)) return c;
  return resend(entry, 0, 0, 0);
}

/// Requests a completion again, and `words` words of the results of the last list from `first` on.
Completion RemoteBoard::resend(const InFlightList& entry, std::uint64_t first, std::uint64_t words,
                               std::uint64_t bus) {
  for (unsigned n = 0; n < max_attempts; ++n) {
    InFlightList request;
    request.completion = reinterpret_cast<Completion*>(control_.memory + resend_offset_);
    request.ring = entry.ring;
    timeout_ = timeout_ + timeout_policy(timeout_seconds_, {words * word_bytes});
    request.descriptor.kind = DescriptorKind::Resend;
    request.descriptor.subject = entry.descriptor.sequence;
    request.descriptor.first_result = first;
    request.descriptor.result_words = words;
    request.descriptor.results = words > 0 ? bus : 0;
    request.descriptor.completion = control_.bus + resend_offset_;
    post_descriptor(request);
    Completion c;
    if (wait_written(request) && read_completion(request, c)) return c;
  }
  fail(
      "completions remain corrupt after repeated transfers; check the host's memory and the board");
}

/// Updates programs and counters from a completion. Lists of different queues may complete in
/// another order than they are handled here: the counters with the longest busy time are the
/// latest.
void RemoteBoard::apply_completion(const Completion& c, const InFlightList& entry) {
  const bool ran = succeeded(c.status) || c.status == CompletionStatus::Refused ||
                   c.status == CompletionStatus::Stopped;
  if (!ran) return;
  for (const ProgramLoad& l : entry.program_loads)
    if (succeeded(c.status) || l.index < c.command) completed_programs_.load(l.command, l.program);
  if (c.busy_nanoseconds < busy_nanoseconds_) return;
  record_list(c, entry);
  busy_nanoseconds_ = c.busy_nanoseconds;
  counts_ = c.counts;
  engine_stats_.fast_runs = c.fast_runs;
  engine_stats_.fallback_runs = c.fallback_runs;
  engine_stats_.compile_seconds = c.compile_seconds;
  engine_stats_.reason.assign(c.reason, strnlen(c.reason, sizeof(c.reason)));
}

/// Adds a list to the timeline. The host does not observe the end of posted lists: it is computed
/// from the busy time of the board.
void RemoteBoard::record_list(const Completion& c, const InFlightList& entry) {
  if (!records_ || entry.main_command == CommandKind{}) return;
  const bool counts_reset = (entry.descriptor.flags & descriptor_reset_counts) != 0;
  ListRecord& record = recorded_.emplace_back();
  record.host_begin = entry.submitted_seconds;
  if (recorded_.size() > 1)
    record.host_begin = std::max(record.host_begin, recorded_.end()[-2].host_end);
  const double busy = static_cast<double>(c.busy_nanoseconds - busy_nanoseconds_) * 1e-9;
  record.host_end = std::min(steady_seconds(), record.host_begin + busy);
  record.seconds =
      std::max(0.0, c.counts.predicted_seconds - (counts_reset ? 0 : counts_.predicted_seconds));
  record.busy = {{BusyPart::Board, 0, entry.main_command, 0, record.seconds}};
}

/// Submits corrupt and skipped lists again; the transfer memory still contains them. Completions of
/// lists in other queues remain valid.
void RemoteBoard::resubmit() {
  std::deque<InFlightList> lists = std::exchange(in_flight_, {});
  const bool exhausted = ++lists.front().attempts > max_attempts;
  std::vector<CompletionStatus> status;
  for (const InFlightList& entry : lists) status.push_back(await_completion(entry).status);
  if (exhausted)
    fail("transfers remain corrupt after repeated attempts; check the host's memory and the board");
  std::vector<bool> resumed(rings_.size(), false);
  for (std::size_t k = 0; k < lists.size(); ++k) {
    InFlightList& entry = in_flight_.emplace_back(std::move(lists[k]));
    if (!not_executed(status[k])) continue;
    entry.descriptor.flags &= ~std::uint32_t{descriptor_resume};
    if (!resumed[entry.ring]) entry.descriptor.flags |= descriptor_resume;
    resumed[entry.ring] = true;
    post_descriptor(entry);
  }
}

/// Discards the lists in flight; the next list resumes the board.
void RemoteBoard::discard_in_flight() {
  std::deque<InFlightList> lists = std::exchange(in_flight_, {});
  for (const InFlightList& entry : lists) apply_completion(await_completion(entry), entry);
  programs_ = completed_programs_;
  resume_ = true;
}

void RemoteBoard::throw_refusal(const Completion& c) {
  const std::string message(c.message, strnlen(c.message, sizeof(c.message)));
  discard_in_flight();
  if (c.status == CompletionStatus::NoMemory)
    throw BoardFailure(failure_ =
                           access_->name() + " is out of memory; raise the memory of its server");
  const bool known = c.category >= 1 && c.category <= 7;
  throw Error(known ? static_cast<ErrorCategory>(c.category) : ErrorCategory::Device, message);
}

/// Copies results; requests them again if they are corrupt or exceed the reserved memory.
void RemoteBoard::fetch_results(const InFlightList& entry, const Completion& first,
                                std::vector<std::uint64_t>& results) {
  if (first.result_words != entry.result_words)
    fail("the board returned " + std::to_string(first.result_words) +
         " words for a list whose commands return " + std::to_string(entry.result_words) +
         "; check the board and its version");
  results.resize(first.result_words);
  Completion c = first;
  const bool complete = c.status == CompletionStatus::Done;
  std::uint64_t done = 0;
  unsigned attempts = 1;
  while (done < first.result_words || (done == 0 && first.result_words == 0)) {
    const std::uint64_t n = std::min(entry.result_capacity, first.result_words - done);
    if ((!complete || attempts > 1) && n > 0)
      c = resend(entry, done, n, data_.bus + entry.result_offset);
    if (!succeeded(c.status))
      fail("the board discarded results before they were read; check the board");
    std::uint64_t sum = 0;
    {
      const AddElapsed timer(transfer_seconds_);
      sum = copy_and_sum(words_at(data_, entry.result_offset), results.data() + done, n);
    }
    if (sum == c.result_checksum) {
      done += n;
      attempts = 1;
      if (n == 0) break;
    } else if (++attempts > max_attempts) {
      fail(
          "results remain corrupt after repeated transfers; check the host's memory and the board");
    }
  }
}

/// Waits for the oldest list in flight and applies its completion. Throws its error.
void RemoteBoard::complete_oldest(std::vector<std::uint64_t>* results) {
  for (;;) {
    const Completion c = await_completion(in_flight_.front());
    apply_completion(c, in_flight_.front());
    switch (c.status) {
      case CompletionStatus::Done:
      case CompletionStatus::ResultsHeld:
        if (results != nullptr) fetch_results(in_flight_.front(), c, *results);
        in_flight_.pop_front();
        return;
      case CompletionStatus::Refused:
      case CompletionStatus::NoMemory:
        in_flight_.pop_front();
        throw_refusal(c);
        break;
      case CompletionStatus::Stopped:
        in_flight_.pop_front();
        stop_requested_ = true;
        clear_stop();
        throw Cancelled();
      case CompletionStatus::BadChecksum:
      case CompletionStatus::BadDescriptor:
        resubmit();
        break;
      default:
        fail("unexpected completion status: " + std::string(completion_status_text(c.status)) +
             "; use a library and a board of the same release");
    }
  }
}

}  // namespace gdr::driver
