// Submission of command lists: division to the size of the transfer memory, copy, descriptor.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/plain_words.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/in_flight.hpp"
#include "libgdr/driver/remote_board.hpp"

namespace gdr::driver {
namespace {

constexpr std::uint64_t cache_line = 64;  ///< alignment of commands, payload and results, in bytes
constexpr std::uint64_t command_words = sizeof(Command) / word_bytes;

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

/// Maximum payload of a list: half of the transfer memory at its maximum size, so that two lists
/// fit.
std::uint64_t RemoteBoard::max_payload_words() const noexcept {
  const std::uint64_t bytes = std::max(max_data_bytes_, data_.bytes) / 2;
  const std::uint64_t fixed = sizeof(Completion) + 64 * sizeof(Command) + 4 * cache_line;
  return bytes > 2 * fixed ? (bytes - fixed) / word_bytes : 1;
}

/// Allocates transfer memory for a list, as a byte offset; waits for earlier lists if none is free.
std::uint64_t RemoteBoard::allocate_transfer(std::uint64_t bytes) {
  if (bytes > data_.bytes)
    throw Error(ErrorCategory::Device,
                access_->name() + ": a command list of " + std::to_string(bytes) +
                    " bytes does not fit into the transfer memory of " +
                    std::to_string(data_.bytes) + " bytes; allow the board more memory");
  for (;;) {
    if (in_flight_.empty()) return 0;
    const std::uint64_t tail = in_flight_.back().end, head = in_flight_.front().begin;
    if (in_flight_.size() < max_lists_in_flight) {
      if (tail > head && tail + bytes <= data_.bytes) return tail;
      if (tail > head && bytes <= head) return 0;
      if (tail <= head && tail + bytes <= head) return tail;
    }
    complete_oldest(nullptr);
  }
}

/// Replaces the unused transfer memory by a larger one. False if the allocation fails.
bool RemoteBoard::grow_transfer_memory(std::uint64_t bytes) noexcept {
  try {
    const DmaArea larger = access_->allocate(bytes);
    access_->release(std::exchange(data_, larger));
    return true;
  } catch (const Error&) {  // a failed board is reported by the next list
    return false;
  }
}

/// Grows the transfer memory until two such lists fit, or to its maximum size.
void RemoteBoard::reserve_transfer_memory(const std::vector<PreparedCommand>& prepared) {
  std::uint64_t words = 0;
  for (const PreparedCommand& p : prepared)
    words += p.payload_words + p.result_words + sizeof(Command) / 8;
  const std::uint64_t bytes = words * word_bytes + sizeof(Completion) + 4 * cache_line;
  if (bytes <= data_.bytes / 2 || data_.bytes >= max_data_bytes_) return;
  wait_for_completion();
  for (std::uint64_t wanted = std::min(std::bit_ceil(2 * bytes), max_data_bytes_);
       wanted > data_.bytes; wanted /= 2)
    if (grow_transfer_memory(wanted)) return;
  max_data_bytes_ = data_.bytes;
}

/// Divides a list into lists whose payload fits into the transfer memory.
std::vector<std::vector<RemoteBoard::PreparedCommand>> RemoteBoard::divide(
    const CommandList& list) const {
  const std::uint64_t max_words = max_payload_words();
  std::vector<std::vector<PreparedCommand>> lists(1);
  std::uint64_t words = 0;
  const ChipPrograms* programs = &programs_;
  ChipPrograms changed;  // programs after LoadProgram commands of the list
  const auto add = [&](const Command& c, std::uint64_t in, std::uint64_t out,
                       std::optional<ProgramTiming> program = {}) {
    if (!lists.back().empty() &&
        (words + in > max_words || lists.back().size() == max_list_commands)) {
      lists.emplace_back();
      words = 0;
    }
    lists.back().push_back({c, in, out, std::move(program)});
    words += in + sizeof(Command) / word_bytes;
  };
  for (const Command& c : list.commands) {
    std::uint64_t in = payload_length(c, program_of(*programs, c));
    const std::span<const std::uint64_t> payload = list.words_from(c.payload);
    if (in > payload.size()) in = 0;  // the board rejects the command
    if (c.kind == CommandKind::LoadProgram) {
      ProgramTiming program = object_timing(payload.first(in), c.count, identity_.geometry);
      if (std::exchange(programs, &changed) == &programs_) changed = programs_;
      load(changed, c, program);
      add(c, in, 0, std::move(program));
      continue;
    }
    const bool divisible =
        c.kind == CommandKind::WriteMemory || c.kind == CommandKind::WriteTargets;
    if (in <= max_words || !divisible) {
      add(c, in, result_length(c, program_of(*programs, c)));
      continue;
    }
    const std::uint64_t item_words = in / c.count;
    const std::uint64_t part_items = std::max<std::uint64_t>(1, max_words / item_words);
    for (std::uint64_t done = 0; done < c.count; done += part_items) {
      Command part = c;
      part.count = std::min(part_items, c.count - done);
      (c.kind == CommandKind::WriteMemory ? part.address : part.first) += done;
      part.payload += done * item_words;
      part.payload_words = part.count * item_words;
      add(part, part.count * item_words, 0);
    }
  }
  return lists;
}

/// The queue of a list: that of a chip if all commands name only this chip, else the board's.
/// Resuming and resetting counters affect all chips, and need the board's queue.
std::size_t RemoteBoard::ring_for(const std::vector<PreparedCommand>& prepared) const noexcept {
  if (prepared.empty() || resume_ || reset_counts_) return 0;
  const std::uint64_t chips = prepared.front().command.chips;
  const auto same = [&](const PreparedCommand& p) { return p.command.chips == chips; };
  const auto chip = static_cast<std::size_t>(std::countr_zero(chips));
  const bool one = std::has_single_bit(chips) && chip + 1 < rings_.size();
  return one && std::ranges::all_of(prepared, same) ? chip + 1 : 0;
}

/// Copies a list and its payload to the transfer memory, and posts its descriptor.
void RemoteBoard::submit(const std::vector<PreparedCommand>& prepared, const CommandList& list) {
  std::uint64_t payload_words = 0, result_words = 0;
  for (const PreparedCommand& p : prepared) {
    payload_words += p.payload_words;
    result_words += p.result_words;
  }
  InFlightList entry;
  entry.result_words = result_words;
  // Further results are fetched in parts.
  result_words = std::min(result_words, max_payload_words());
  const std::uint64_t commands_at = sizeof(Completion);
  const std::uint64_t payload_at =
      round_up(commands_at + prepared.size() * sizeof(Command), cache_line);
  const std::uint64_t results_at = round_up(payload_at + payload_words * word_bytes, cache_line);
  const std::uint64_t bytes = round_up(results_at + result_words * word_bytes, cache_line);
  // There is no order between the board's queue and chip queues: wait before a change.
  const bool to_chip = ring_for(prepared) != 0;
  if (!in_flight_.empty() && to_chip != (in_flight_.back().ring != 0)) wait_for_completion();
  entry.begin = allocate_transfer(bytes);
  entry.ring = ring_for(prepared);
  entry.submitted_seconds = steady_seconds();
  ListWork work{bytes};
  entry.end = entry.begin + bytes;
  entry.completion = reinterpret_cast<Completion*>(data_.memory + entry.begin);
  entry.result_offset = entry.begin + results_at;
  entry.result_capacity = result_words;
  Descriptor& d = entry.descriptor;
  d.kind = DescriptorKind::Execute;
  d.commands = data_.bus + entry.begin + commands_at;
  d.command_count = prepared.size();
  d.payload = data_.bus + entry.begin + payload_at;
  d.payload_words = payload_words;
  d.results = data_.bus + entry.result_offset;
  d.result_words = result_words;
  d.completion = data_.bus + entry.begin;
  {
    const AddElapsed timer(transfer_seconds_);
    std::uint64_t* const commands = words_at(data_, entry.begin + commands_at);
    std::uint64_t* const payload = words_at(data_, entry.begin + payload_at);
    std::uint64_t at = 0, k = 0;
    for (const PreparedCommand& p : prepared) {
      Command c = p.command;
      if (p.payload_words > 0) {
        std::memcpy(payload + at, list.words_from(c.payload).data(), p.payload_words * word_bytes);
        c.payload = at;
        at += p.payload_words;
      }
      if (p.program) {
        load(programs_, c, *p.program);
        entry.program_loads.push_back({k, c, *p.program});
      }
      add_work(work, c, program_of(programs_, c), identity_.geometry);
      if (entry.main_command != CommandKind::Run) entry.main_command = c.kind;
      std::memcpy(commands + k++ * command_words, &c, sizeof(c));
    }
    d.data_checksum = join_checksums(checksum({commands, prepared.size() * command_words}),
                                     checksum({payload, payload_words}));
  }
  if (in_flight_.empty()) timeout_ = {};
  timeout_ = timeout_ + timeout_policy(options_.timeout_seconds, work);
  if (std::exchange(reset_counts_, false)) d.flags |= descriptor_reset_counts;
  if (std::exchange(resume_, false)) d.flags |= descriptor_resume;
  post_descriptor(in_flight_.emplace_back(std::move(entry)));
}

/// Writes a descriptor to the ring with the next sequence number, and rings the doorbell.
void RemoteBoard::post_descriptor(InFlightList& entry) {
  Descriptor& d = entry.descriptor;
  Ring& ring = rings_[entry.ring];
  d.sequence = ++ring.sequence;
  const auto words = as_words(d);
  d.checksum = checksum(words.first(words.size() - 1));
  std::atomic_ref(entry.completion->sequence).store(0, std::memory_order_relaxed);
  const std::uint64_t slot = (d.sequence - 1) % ring.entries;
  copy_and_sum(words.data(), words_at(control_, ring.offset + slot * sizeof(Descriptor)),
               words.size());
  access_->write(ring.doorbell, ring.sequence);
  if ((access_->read(Register::Status) & status_asleep) != 0) access_->signal_doorbell();
}

}  // namespace gdr::driver
