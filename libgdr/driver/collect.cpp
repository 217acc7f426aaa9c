// What comes back from a board: completions in the order of the lists, results, and what to do
// where they do not come, or come damaged.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/plain_words.hpp"
#include "emulator/host/parallel.hpp"
#include "libgdr/driver/driven_board.hpp"
#include "libgdr/driver/flights.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace gdr::driver {
namespace {

constexpr unsigned most_tries = 4;
/// So long the host looks for itself before it sleeps: what takes longer is not hurt by waking.
constexpr std::chrono::microseconds watch{50};
constexpr std::chrono::milliseconds first_wait{1}, longest_wait{100};

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

bool good(CompletionStatus status) noexcept {
  return status == CompletionStatus::Done || status == CompletionStatus::ResultsHeld;
}

/// Never executed, and good for another try.
bool untouched(CompletionStatus status) noexcept {
  return status == CompletionStatus::Skipped || status == CompletionStatus::BadChecksum ||
         status == CompletionStatus::BadDescriptor;
}

std::string milliseconds(double seconds) {
  return std::to_string(std::lround(seconds * 1000)) + " ms";
}

}  // namespace

/// Whether the completion is there and whole; `c` becomes it.
bool DrivenBoard::arrived(const Flight& flight, Completion& c) const noexcept {
  const std::uint64_t sequence = flight.descriptor.sequence;
  if (std::atomic_ref(flight.completion->sequence).load(std::memory_order_acquire) != sequence)
    return false;
  copy_and_sum(reinterpret_cast<const std::uint64_t*>(flight.completion), as_words(c).data(),
               as_words(c).size());
  const std::uint64_t sum = std::exchange(c.checksum, 0);
  const bool whole = checksum(as_words(c)) == sum;
  c.checksum = sum;
  return whole;
}

/// Until the completion of a flight has been written. False if the board is done with it, and there
/// is none that makes sense.
bool DrivenBoard::wait(const Flight& flight) {
  const std::uint64_t sequence = flight.descriptor.sequence;
  const Ring& ring = rings_[flight.ring];
  const auto written = [&] {
    return std::atomic_ref(flight.completion->sequence).load(std::memory_order_acquire) == sequence;
  };
  const Clock::time_point begin = Clock::now();
  while (Clock::now() < begin + watch) {
    for (int k = 0; k < 16; ++k) {
      if (written()) return true;
      relax();
    }
  }
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  std::uint64_t beat = access_->read(Register::Heartbeat);
  Clock::time_point last = Clock::now();
  std::chrono::nanoseconds most = first_wait;
  access_->write(Register::InterruptMask, 1);
  for (;;) {
    if (written() || access_->read(ring.head) >= sequence) break;
    if ((access_->read(ring.status) & ring.failed) != 0)
      lose("it found its ring of descriptors damaged, and has stopped");
    if (stop_.stop_requested() && !std::exchange(stopping_, true))
      access_->write(Register::Stop, 1);
    const Woken woken = access_->wait(most);
    if (woken == Woken::Gone && !written()) lose("its server ended, or gave it to nobody");
    most = std::min<std::chrono::nanoseconds>(2 * most, longest_wait);
    if (const std::uint64_t beats = access_->read(Register::Heartbeat); beats != beat) {
      beat = beats;
      last = Clock::now();
    } else if (seconds_since(last) > patience_.quiet_seconds) {
      lose("no sign of life for " + milliseconds(patience_.quiet_seconds) +
           "; restart it, or allow more with the device option timeout=SECONDS");
    }
    if (seconds_since(begin) > patience_.whole_seconds)
      lose("it shows signs of life, but a list is not done after " +
           milliseconds(patience_.whole_seconds) +
           "; restart it, or allow more with the device option timeout=SECONDS");
  }
  access_->write(Register::InterruptMask, 0);
  return written();
}

/// The completion of the oldest flight, asked for again where it arrives damaged.
Completion DrivenBoard::await(Flight& flight) {
  Completion c;
  if (wait(flight) && arrived(flight, c)) return c;
  return again(flight, 0, 0, 0);
}

/// Asks for a completion, and for words of the results of the last list, once more.
Completion DrivenBoard::again(const Flight& flight, std::uint64_t first, std::uint64_t words,
                              std::uint64_t bus) {
  for (unsigned n = 0; n < most_tries; ++n) {
    Flight ask;
    ask.completion = reinterpret_cast<Completion*>(control_.memory + asked_at_);
    ask.ring = flight.ring;
    patience_ = patience_ + patience(options_.timeout_seconds, {words * word_bytes});
    ask.descriptor.kind = DescriptorKind::Resend;
    ask.descriptor.subject = flight.descriptor.sequence;
    ask.descriptor.first_result = first;
    ask.descriptor.result_words = words;
    ask.descriptor.results = words > 0 ? bus : 0;
    ask.descriptor.completion = control_.bus + asked_at_;
    ring(ask);
    Completion c;
    if (wait(ask) && arrived(ask, c)) return c;
  }
  lose("what it answers keeps arriving damaged; check the host's memory and the board");
}

/// What a list brought, beside its results. Lists in different queues may be done in another order
/// than they come back here: the time that the board was busy says which counters are the latest.
void DrivenBoard::take(const Completion& c, const Flight& flight) {
  const bool ran = good(c.status) || c.status == CompletionStatus::Refused ||
                   c.status == CompletionStatus::Stopped;
  if (!ran) return;
  for (const Load& l : flight.loads)
    if (good(c.status) || l.index < c.command) load(collected_, l.command, l.program);
  if (c.busy_nanoseconds < busy_nanoseconds_) return;
  note(c, flight);
  busy_nanoseconds_ = c.busy_nanoseconds;
  counts_ = c.counts;
  work_.fast_runs = c.fast_runs;
  work_.fallback_runs = c.fallback_runs;
  work_.compile_seconds = c.compile_seconds;
  work_.reason.assign(c.reason, strnlen(c.reason, sizeof(c.reason)));
}

/// A list for the record. Of lists that were posted the host does not see the end: it is where the
/// board had spent the time that it counts.
void DrivenBoard::note(const Completion& c, const Flight& flight) {
  if (!records_ || flight.main_command == CommandKind{}) return;
  const bool anew = (flight.descriptor.flags & descriptor_reset_counts) != 0;
  ListRecord& record = recorded_.emplace_back();
  record.host_begin = flight.submitted;
  if (recorded_.size() > 1)
    record.host_begin = std::max(record.host_begin, recorded_.end()[-2].host_end);
  const double busy = static_cast<double>(c.busy_nanoseconds - busy_nanoseconds_) * 1e-9;
  record.host_end = std::min(host_seconds(), record.host_begin + busy);
  record.seconds =
      std::max(0.0, c.counts.predicted_seconds - (anew ? 0 : counts_.predicted_seconds));
  record.busy = {{BusyPart::Board, 0, flight.main_command, 0, record.seconds}};
}

/// What did not arrive whole, and what was skipped for it, once more: the transfer memory has it
/// still. Lists in other queues may have been done meanwhile; their completions stand.
void DrivenBoard::resubmit() {
  std::deque<Flight> flights = std::exchange(flights_, {});
  const bool tired = ++flights.front().tries > most_tries;
  std::vector<CompletionStatus> how;
  for (Flight& flight : flights) how.push_back(await(flight).status);
  if (tired) lose("transfers keep arriving damaged; check the host's memory and the board");
  std::vector<bool> resumed(rings_.size(), false);
  for (std::size_t k = 0; k < flights.size(); ++k) {
    Flight& flight = flights_.emplace_back(std::move(flights[k]));
    if (!untouched(how[k])) continue;
    flight.descriptor.flags &= ~std::uint32_t{descriptor_resume};
    if (!resumed[flight.ring]) flight.descriptor.flags |= descriptor_resume;
    resumed[flight.ring] = true;
    ring(flight);
  }
}

/// Forgets what is under way, and lets the board go on with the next list.
void DrivenBoard::drop_flights() {
  std::deque<Flight> flights = std::exchange(flights_, {});
  for (Flight& flight : flights) {
    const Completion c = await(flight);
    take(c, flight);
  }
  programs_ = collected_;
  resume_ = true;
}

void DrivenBoard::refuse(const Completion& c) {
  const std::string message(c.message, strnlen(c.message, sizeof(c.message)));
  drop_flights();
  if (c.status == CompletionStatus::NoMemory)
    throw BoardLost(lost_ = access_->name() + " is out of memory; give its server more");
  const bool known = c.category >= 1 && c.category <= 7;
  throw Error(known ? static_cast<ErrorCategory>(c.category) : ErrorCategory::Device, message);
}

/// Results as they arrived; asked for again where they are damaged, or are more than the room.
void DrivenBoard::fetch_results(const Flight& flight, const Completion& first,
                                std::vector<std::uint64_t>& results) {
  if (first.result_words != flight.result_words)
    lose("it says that a list returned " + std::to_string(first.result_words) + " words, not " +
         std::to_string(flight.result_words) + " as its commands say");
  results.resize(first.result_words);
  Completion c = first;
  const bool whole = c.status == CompletionStatus::Done;
  std::uint64_t done = 0;
  unsigned tries = 1;
  while (done < first.result_words || (done == 0 && first.result_words == 0)) {
    const std::uint64_t n = std::min(flight.result_room, first.result_words - done);
    if ((!whole || tries > 1) && n > 0) c = again(flight, done, n, data_.bus + flight.result_at);
    if (!good(c.status)) lose("it lost results that it held");
    std::uint64_t sum = 0;
    {
      const Stopwatch timer{transfer_seconds_};
      sum = copy_and_sum(words_at(data_, flight.result_at), results.data() + done, n);
    }
    if (sum == c.result_checksum) {
      done += n;
      tries = 1;
      if (n == 0) break;
    } else if (++tries > most_tries) {
      lose("results keep arriving damaged; check the host's memory and the board");
    }
  }
}

/// Waits for the oldest flight and takes what it brings. Throws what the board refused.
void DrivenBoard::collect(std::vector<std::uint64_t>* results) {
  for (;;) {
    const Completion c = await(flights_.front());
    take(c, flights_.front());
    switch (c.status) {
      case CompletionStatus::Done:
      case CompletionStatus::ResultsHeld:
        if (results != nullptr) fetch_results(flights_.front(), c, *results);
        flights_.pop_front();
        return;
      case CompletionStatus::Refused:
      case CompletionStatus::NoMemory:
        flights_.pop_front();
        refuse(c);
        break;
      case CompletionStatus::Stopped:
        flights_.pop_front();
        stopping_ = true;
        calm();
        throw Cancelled();
      case CompletionStatus::BadChecksum:
      case CompletionStatus::BadDescriptor:
        resubmit();
        break;
      default:
        lose("it does not understand the driver: " + std::string(completion_status_text(c.status)));
    }
  }
}

}  // namespace gdr::driver
