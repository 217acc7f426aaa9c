// The driver's side of the ring: lists out, completions in, in order.
#include "libgdr/driver/driven_board.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace gdr::driver {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t line = 64;  ///< of the cache: what begins in one is alone there
constexpr std::uint64_t ring_entries = 256;
/// Lists under way at most; with what is asked for again, fewer than a board remembers.
constexpr std::size_t most_flights = 16;
constexpr unsigned most_tries = 4;
constexpr std::uint64_t first_data_bytes = std::uint64_t{4} << 20;
/// So long the host looks for itself before it sleeps: what takes longer is not hurt by waking.
constexpr std::chrono::microseconds watch{50};
constexpr std::chrono::milliseconds first_wait{1}, longest_wait{100};

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

template <typename T>
std::span<std::uint64_t> as_words(T& value) noexcept {
  return {reinterpret_cast<std::uint64_t*>(&value), sizeof(T) / word_bytes};
}

std::uint64_t* words_at(const DmaArea& area, std::uint64_t offset) noexcept {
  return reinterpret_cast<std::uint64_t*>(area.memory + offset);
}

/// Adds the time until it goes.
struct Stopwatch {
  double& seconds;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  ~Stopwatch() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    seconds += spent.count();
  }
};

bool good(CompletionStatus status) noexcept {
  return status == CompletionStatus::Done || status == CompletionStatus::ResultsHeld;
}

}  // namespace

DrivenBoard::DrivenBoard(std::unique_ptr<BoardAccess> access, const DriverOptions& options)
    : access_(std::move(access)), options_(options) {
  identify();
  prepare_ring();
  reset();
}

DrivenBoard::~DrivenBoard() {
  if (control_.memory != nullptr) access_->release(control_);
  if (data_.memory != nullptr) access_->release(data_);
}

void DrivenBoard::prepare_ring() {
  control_ = access_->allocate(ring_entries * sizeof(Descriptor) + sizeof(Completion));
  largest_ = access_->largest_area();
  data_ = access_->allocate(std::min(first_data_bytes, largest_));
}

/// Asks for a reset and waits until it is over: then the board knows nothing of earlier owners.
void DrivenBoard::reset() {
  access_->write(Register::RingBase, control_.bus);
  access_->write(Register::RingEntries, ring_entries);
  access_->write(Register::Doorbell, 0);
  access_->write(Register::InterruptMask, 0);
  const std::uint64_t wanted = access_->read(Register::Resets) + 1;
  access_->write(Register::Control, wanted);
  access_->signal_doorbell();
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(options_.timeout_seconds));
  while (access_->read(Register::Resets) != wanted) {
    if (access_->wait(std::chrono::microseconds(200)) == Woken::Gone)
      lose("its server ended while the board was reset");
    if (Clock::now() > end) lose("it does not answer a reset; restart it");
  }
  sequence_ = 0;
}

void DrivenBoard::lose(const std::string& why) {
  lost_ = access_->name() + ": " + why;
  flights_.clear();
  throw BoardLost(lost_);
}

void DrivenBoard::reset_counts() {
  reset_counts_ = true;
  counts_ = {};
}

LinkTimes DrivenBoard::times() const {
  return {transfer_seconds_, static_cast<double>(busy_nanoseconds_) * 1e-9};
}

/// What may be in one list's payload: half of the memory, so that two lists fit, where memory
/// cannot grow; a quarter of a gigabyte where it can.
std::uint64_t DrivenBoard::most_payload_words() const noexcept {
  const std::uint64_t most = std::max(largest_, data_.bytes) / 2;
  const std::uint64_t fixed = sizeof(Completion) + 64 * sizeof(Command) + 4 * line;
  return most > 2 * fixed ? (most - fixed) / word_bytes : 1;
}

/// Place in the transfer memory for a list; waits for earlier ones where there is none.
std::uint64_t DrivenBoard::room_for(std::uint64_t bytes) {
  if (bytes > data_.bytes)
    throw Error(ErrorCategory::Device,
                access_->name() + ": a list of " + std::to_string(bytes) +
                    " bytes does not fit the memory for transfers, which has " +
                    std::to_string(data_.bytes));
  for (;;) {
    if (flights_.empty()) return 0;
    const std::uint64_t tail = flights_.back().end, head = flights_.front().begin;
    if (flights_.size() < most_flights) {
      if (tail > head && tail + bytes <= data_.bytes) return tail;
      if (tail > head && bytes <= head) return 0;
      if (tail <= head && tail + bytes <= head) return tail;
    }
    collect(nullptr);
  }
}

/// Exchanges the memory for transfers, which nobody uses now, for a larger one. False if there is
/// none.
bool DrivenBoard::grow(std::uint64_t bytes) noexcept {
  try {
    const DmaArea larger = access_->allocate(bytes);
    access_->release(std::exchange(data_, larger));
    return true;
  } catch (const Error&) {  // also of a board that has gone: the next list says so
    return false;
  }
}

/// Lets the memory for transfers grow so that two such lists fit, or as far as it goes.
void DrivenBoard::make_room(const std::vector<Piece>& pieces) {
  std::uint64_t words = 0;
  for (const Piece& p : pieces) words += p.payload_words + p.result_words + sizeof(Command) / 8;
  const std::uint64_t bytes = words * word_bytes + sizeof(Completion) + 4 * line;
  if (bytes <= data_.bytes / 2 || data_.bytes >= largest_) return;
  settle();
  for (std::uint64_t wanted = std::min(std::bit_ceil(2 * bytes), largest_); wanted > data_.bytes;
       wanted /= 2)
    if (grow(wanted)) return;
  largest_ = data_.bytes;
}

/// Lists as they go out: one, unless the payload is more than what the memory takes at once.
std::vector<std::vector<DrivenBoard::Piece>> DrivenBoard::divide(const CommandList& list) {
  const std::uint64_t most_words = most_payload_words();
  std::vector<std::vector<Piece>> lists(1);
  std::uint64_t words = 0;
  ProgramLengths program = program_;
  const auto add = [&](const Command& c, std::uint64_t in, std::uint64_t out) {
    if (!lists.back().empty() &&
        (words + in > most_words || lists.back().size() == most_list_commands)) {
      lists.emplace_back();
      words = 0;
    }
    lists.back().push_back({c, in, out});
    words += in + sizeof(Command) / word_bytes;
  };
  for (const Command& c : list.commands) {
    std::uint64_t in = payload_length(c, program);
    const bool inside =
        in == 0 || (c.payload <= list.payload.size() && in <= list.payload.size() - c.payload);
    if (!inside) in = 0;  // the board says what is wrong with it
    if (c.kind == CommandKind::LoadProgram && inside)
      program = program_lengths(std::span(list.payload).subspan(c.payload, in), c.count);
    const bool divides = c.kind == CommandKind::WriteMemory || c.kind == CommandKind::WriteTargets;
    if (in <= most_words || !divides) {
      add(c, in, result_length(c, program));
      continue;
    }
    const std::uint64_t each = in / c.count;
    const std::uint64_t at_once = std::max<std::uint64_t>(1, most_words / each);
    for (std::uint64_t done = 0; done < c.count; done += at_once) {
      Command part = c;
      part.count = std::min(at_once, c.count - done);
      (c.kind == CommandKind::WriteMemory ? part.address : part.first) += done;
      part.payload += done * each;
      part.payload_words = part.count * each;
      add(part, part.count * each, 0);
    }
  }
  return lists;
}

void DrivenBoard::execute(const CommandList& list, std::vector<std::uint64_t>& results) {
  if (!lost_.empty()) throw BoardLost(lost_);
  results.clear();
  std::vector<std::uint64_t> part;
  auto lists = divide(list);
  const std::uint64_t limit = most_payload_words();
  for (const std::vector<Piece>& pieces : lists) make_room(pieces);
  if (most_payload_words() < limit) lists = divide(list);  // there was less than hoped
  for (const std::vector<Piece>& pieces : lists) {
    submit(pieces, list);
    if (flights_.back().result_room == 0 && !list.commands.empty()) continue;
    while (flights_.size() > 1) collect(nullptr);
    if (lists.size() == 1) return collect(&results);
    collect(&part);
    results.insert(results.end(), part.begin(), part.end());
  }
}

void DrivenBoard::settle() {
  while (!flights_.empty()) collect(nullptr);
}

/// Copies a list to the transfer memory, with what it needs of the payload, and rings the doorbell.
void DrivenBoard::submit(const std::vector<Piece>& pieces, const CommandList& list) {
  std::uint64_t payload_words = 0, result_words = 0;
  for (const Piece& p : pieces) {
    payload_words += p.payload_words;
    result_words += p.result_words;
  }
  // Results beyond this are fetched piece by piece.
  result_words = std::min(result_words, most_payload_words());
  const std::uint64_t commands_at = sizeof(Completion);
  const std::uint64_t payload_at = round_up(commands_at + pieces.size() * sizeof(Command), line);
  const std::uint64_t results_at = round_up(payload_at + payload_words * word_bytes, line);
  const std::uint64_t bytes = round_up(results_at + result_words * word_bytes, line);
  Flight flight;
  flight.begin = room_for(bytes);
  flight.end = flight.begin + bytes;
  flight.completion = reinterpret_cast<Completion*>(data_.memory + flight.begin);
  flight.result_at = flight.begin + results_at;
  flight.result_room = result_words;
  Descriptor& d = flight.descriptor;
  d.kind = DescriptorKind::Execute;
  d.commands = data_.bus + flight.begin + commands_at;
  d.command_count = pieces.size();
  d.payload = data_.bus + flight.begin + payload_at;
  d.payload_words = payload_words;
  d.results = data_.bus + flight.result_at;
  d.result_words = result_words;
  d.completion = data_.bus + flight.begin;
  {
    const Stopwatch timer{transfer_seconds_};
    std::uint64_t* const commands = words_at(data_, flight.begin + commands_at);
    std::uint64_t* const payload = words_at(data_, flight.begin + payload_at);
    std::uint64_t at = 0, k = 0;
    constexpr std::uint64_t command_words = sizeof(Command) / word_bytes;
    for (const Piece& p : pieces) {
      Command c = p.command;
      if (p.payload_words > 0) {
        std::memcpy(payload + at, list.payload.data() + c.payload, p.payload_words * word_bytes);
        c.payload = at;
        at += p.payload_words;
        if (c.kind == CommandKind::LoadProgram) {
          flight.program_before = program_;
          flight.load_command = k;
          program_ = program_lengths({payload + c.payload, p.payload_words}, c.count);
        }
      }
      std::memcpy(commands + k++ * command_words, &c, sizeof(c));
    }
    d.data_checksum = join_checksums(checksum({commands, pieces.size() * command_words}),
                                     checksum({payload, payload_words}));
  }
  if (std::exchange(reset_counts_, false)) d.flags |= descriptor_reset_counts;
  if (std::exchange(resume_, false)) d.flags |= descriptor_resume;
  ring(flights_.emplace_back(std::move(flight)));
}

/// Writes a flight's descriptor to the ring under the next number, and tells the board.
void DrivenBoard::ring(Flight& flight) {
  Descriptor& d = flight.descriptor;
  d.sequence = ++sequence_;
  const auto words = as_words(d);
  d.checksum = checksum(words.first(words.size() - 1));
  std::atomic_ref(flight.completion->sequence).store(0, std::memory_order_relaxed);
  const std::uint64_t slot = (d.sequence - 1) % ring_entries;
  copy_and_sum(words.data(), words_at(control_, slot * sizeof(Descriptor)), words.size());
  access_->write(Register::Doorbell, sequence_);
  if ((access_->read(Register::Status) & status_asleep) != 0) access_->signal_doorbell();
}

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
  const auto written = [&] {
    return std::atomic_ref(flight.completion->sequence).load(std::memory_order_acquire) == sequence;
  };
  for (const Clock::time_point end = Clock::now() + watch; Clock::now() < end;) {
    for (int k = 0; k < 16; ++k) {
      if (written()) return true;
      relax();
    }
  }
  std::uint64_t beat = access_->read(Register::Heartbeat);
  Clock::time_point last = Clock::now();
  std::chrono::nanoseconds most = first_wait;
  const std::chrono::duration<double> timeout(options_.timeout_seconds);
  access_->write(Register::InterruptMask, 1);
  for (;;) {
    if (written() || access_->read(Register::Head) >= sequence) break;
    if ((access_->read(Register::Status) & status_failed) != 0)
      lose("it found its ring of descriptors damaged, and has stopped");
    const Woken woken = access_->wait(most);
    if (woken == Woken::Gone && !written()) lose("its server ended, or gave it to nobody");
    most = std::min<std::chrono::nanoseconds>(2 * most, longest_wait);
    const Clock::time_point now = Clock::now();
    if (const std::uint64_t beats = access_->read(Register::Heartbeat); beats != beat) {
      beat = beats;
      last = now;
    } else if (now - last > timeout) {
      lose("no sign of life for " + std::to_string(std::lround(timeout.count() * 1000)) +
           " ms; restart it, or allow more with the device option timeout=SECONDS");
    }
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
    ask.completion =
        reinterpret_cast<Completion*>(control_.memory + ring_entries * sizeof(Descriptor));
    ask.descriptor.kind = DescriptorKind::Resend;
    ask.descriptor.subject = flight.descriptor.sequence;
    ask.descriptor.first_result = first;
    ask.descriptor.result_words = words;
    ask.descriptor.results = words > 0 ? bus : 0;
    ask.descriptor.completion = control_.bus + ring_entries * sizeof(Descriptor);
    ring(ask);
    Completion c;
    if (wait(ask) && arrived(ask, c)) return c;
  }
  lose("what it answers keeps arriving damaged; check the host's memory and the board");
}

void DrivenBoard::take(const Completion& c) noexcept {
  if (c.status == CompletionStatus::Skipped || c.status > CompletionStatus::ResultsHeld) return;
  counts_ = c.counts;
  work_.fast_runs = c.fast_runs;
  work_.slow_runs = c.slow_runs;
  work_.compile_seconds = c.compile_seconds;
  work_.reason.assign(c.reason, strnlen(c.reason, sizeof(c.reason)));
  busy_nanoseconds_ = std::max(busy_nanoseconds_, c.busy_nanoseconds);
}

/// Everything that was under way, once more: the transfer memory has it still.
void DrivenBoard::resubmit() {
  std::deque<Flight> flights = std::exchange(flights_, {});
  const bool tired = ++flights.front().tries > most_tries;
  for (Flight& flight : flights) await(flight);  // they were skipped
  if (tired) lose("transfers keep arriving damaged; check the host's memory and the board");
  for (Flight& flight : flights) {
    flight.descriptor.flags &= ~std::uint32_t{descriptor_resume};
    if (&flight == &flights.front()) flight.descriptor.flags |= descriptor_resume;
    ring(flights_.emplace_back(std::move(flight)));
  }
}

/// Forgets what is under way, and lets the board go on with the next list.
void DrivenBoard::drop_flights() {
  std::deque<Flight> flights = std::exchange(flights_, {});
  for (Flight& flight : flights) await(flight);
  resume_ = true;
}

void DrivenBoard::refuse(const Completion& c, const Flight& flight) {
  if (flight.program_before && c.command <= flight.load_command) program_ = *flight.program_before;
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
    take(c);
    switch (c.status) {
      case CompletionStatus::Done:
      case CompletionStatus::ResultsHeld:
        if (results != nullptr) fetch_results(flights_.front(), c, *results);
        flights_.pop_front();
        return;
      case CompletionStatus::Refused:
      case CompletionStatus::NoMemory: {
        const Flight flight = std::move(flights_.front());
        flights_.pop_front();
        refuse(c, flight);
        break;
      }
      case CompletionStatus::BadChecksum:
      case CompletionStatus::BadDescriptor:
        resubmit();
        break;
      default:
        lose("it does not understand the driver: " + std::string(completion_status_text(c.status)));
    }
  }
}

std::unique_ptr<DrivenBoard> drive_board(std::unique_ptr<BoardAccess> access,
                                         const DriverOptions& options) {
  return std::make_unique<DrivenBoard>(std::move(access), options);
}

}  // namespace gdr::driver
