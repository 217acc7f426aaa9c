// Lists on their way to a board: cut to the memory for transfers, copied there, put into a ring.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/plain_words.hpp"
#include "libgdr/driver/driven_board.hpp"
#include "libgdr/driver/flights.hpp"

namespace gdr::driver {
namespace {

constexpr std::uint64_t line = 64;  ///< of the cache: what begins in one is alone there
constexpr std::uint64_t command_words = sizeof(Command) / word_bytes;

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

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
std::vector<std::vector<DrivenBoard::Piece>> DrivenBoard::divide(const CommandList& list) const {
  const std::uint64_t most_words = most_payload_words();
  std::vector<std::vector<Piece>> lists(1);
  std::uint64_t words = 0;
  const ChipPrograms* programs = &programs_;
  ChipPrograms changed;  // once the list loads one
  const auto add = [&](const Command& c, std::uint64_t in, std::uint64_t out,
                       std::optional<ProgramTiming> program = {}) {
    if (!lists.back().empty() &&
        (words + in > most_words || lists.back().size() == max_list_commands)) {
      lists.emplace_back();
      words = 0;
    }
    lists.back().push_back({c, in, out, std::move(program)});
    words += in + sizeof(Command) / word_bytes;
  };
  for (const Command& c : list.commands) {
    std::uint64_t in = payload_length(c, program_of(*programs, c));
    const std::span<const std::uint64_t> there = list.words_from(c.payload);
    if (in > there.size()) in = 0;  // the board says what is wrong with it
    if (c.kind == CommandKind::LoadProgram) {
      ProgramTiming program = object_timing(there.first(in), c.count, identity_.geometry);
      if (std::exchange(programs, &changed) == &programs_) changed = programs_;
      load(changed, c, program);
      add(c, in, 0, std::move(program));
      continue;
    }
    const bool divides = c.kind == CommandKind::WriteMemory || c.kind == CommandKind::WriteTargets;
    if (in <= most_words || !divides) {
      add(c, in, result_length(c, program_of(*programs, c)));
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

/// The queue of the chip that all of a list is for, else the board's: what makes all chips go on,
/// or counters begin anew, is for all.
std::size_t DrivenBoard::ring_for(const std::vector<Piece>& pieces) const noexcept {
  if (pieces.empty() || resume_ || reset_counts_) return 0;
  const std::uint64_t chips = pieces.front().command.chips;
  const auto same = [&](const Piece& p) { return p.command.chips == chips; };
  const auto chip = static_cast<std::size_t>(std::countr_zero(chips));
  const bool one = std::has_single_bit(chips) && chip + 1 < rings_.size();
  return one && std::ranges::all_of(pieces, same) ? chip + 1 : 0;
}

/// Copies a list to the transfer memory, with what it needs of the payload, and rings the doorbell.
void DrivenBoard::submit(const std::vector<Piece>& pieces, const CommandList& list) {
  std::uint64_t payload_words = 0, result_words = 0;
  for (const Piece& p : pieces) {
    payload_words += p.payload_words;
    result_words += p.result_words;
  }
  Flight flight;
  flight.result_words = result_words;
  // Results beyond this are fetched piece by piece.
  result_words = std::min(result_words, most_payload_words());
  const std::uint64_t commands_at = sizeof(Completion);
  const std::uint64_t payload_at = round_up(commands_at + pieces.size() * sizeof(Command), line);
  const std::uint64_t results_at = round_up(payload_at + payload_words * word_bytes, line);
  const std::uint64_t bytes = round_up(results_at + result_words * word_bytes, line);
  // Nothing orders the board's queue and those of chips but waiting.
  const bool to_chip = ring_for(pieces) != 0;
  if (!flights_.empty() && to_chip != (flights_.back().ring != 0)) settle();
  flight.begin = room_for(bytes);
  flight.ring = ring_for(pieces);
  flight.submitted = host_seconds();
  ListWork work{bytes};
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
    for (const Piece& p : pieces) {
      Command c = p.command;
      if (p.payload_words > 0) {
        std::memcpy(payload + at, list.words_from(c.payload).data(), p.payload_words * word_bytes);
        c.payload = at;
        at += p.payload_words;
      }
      if (p.program) {
        load(programs_, c, *p.program);
        flight.loads.push_back({k, c, *p.program});
      }
      add_work(work, c, program_of(programs_, c), identity_.geometry);
      if (flight.main_command != CommandKind::Run) flight.main_command = c.kind;
      std::memcpy(commands + k++ * command_words, &c, sizeof(c));
    }
    d.data_checksum = join_checksums(checksum({commands, pieces.size() * command_words}),
                                     checksum({payload, payload_words}));
  }
  if (flights_.empty()) patience_ = {};
  patience_ = patience_ + patience(options_.timeout_seconds, work);
  if (std::exchange(reset_counts_, false)) d.flags |= descriptor_reset_counts;
  if (std::exchange(resume_, false)) d.flags |= descriptor_resume;
  ring(flights_.emplace_back(std::move(flight)));
}

/// Writes a flight's descriptor to the ring under the next number, and tells the board.
void DrivenBoard::ring(Flight& flight) {
  Descriptor& d = flight.descriptor;
  Ring& ring = rings_[flight.ring];
  d.sequence = ++ring.sequence;
  const auto words = as_words(d);
  d.checksum = checksum(words.first(words.size() - 1));
  std::atomic_ref(flight.completion->sequence).store(0, std::memory_order_relaxed);
  const std::uint64_t slot = (d.sequence - 1) % ring.entries;
  copy_and_sum(words.data(), words_at(control_, ring.at + slot * sizeof(Descriptor)), words.size());
  access_->write(ring.doorbell, ring.sequence);
  if ((access_->read(Register::Status) & status_asleep) != 0) access_->signal_doorbell();
}

}  // namespace gdr::driver
