// Identification, set-up and reset of a board, and submission of command lists: division to the
// size of the transfer memory, copy, descriptor.
#include "libgdr/driver/remote_board.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr::driver {
namespace {

/// Ring sizes. The number of lists in flight stays below both.
constexpr std::uint64_t board_entries = 64, chip_entries = 32;
static_assert(max_lists_in_flight < chip_entries);
constexpr std::uint64_t first_data_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t max_memory_bytes = std::uint64_t{1} << 48;

constexpr std::uint64_t cache_line = 64;  ///< alignment of commands, payload and results, in bytes
constexpr std::uint64_t command_words = sizeof(Command) / word_bytes;

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

std::string name_at(BoardAccess& access, Register r) {
  const auto second = static_cast<Register>(static_cast<std::uint32_t>(r) + 8);
  const std::uint64_t words[] = {access.read(r), access.read(second)};
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words, sizeof(words));
  return text;
}

}  // namespace

RemoteBoard::RemoteBoard(std::unique_ptr<BoardAccess> access, double timeout_seconds,
                         double poll_seconds)
    : access_(std::move(access)), timeout_seconds_(timeout_seconds), polling_(poll_seconds) {
  identify();
  prepare_rings();
  reset();
}

RemoteBoard::~RemoteBoard() {
  if (control_.memory != nullptr) access_->release(control_);
  if (data_.memory != nullptr) access_->release(data_);
}

/// Reads the board's geometry and capabilities, and checks its version.
void RemoteBoard::identify() {
  const auto read = [this](Register r) { return access_->read(r); };
  if (read(Register::Identity) != board_identity)
    throw device_error(
        access_->name() +
        " is not a board: its register IDENTITY has another value; check the device");
  const std::uint64_t version = read(Register::Version);
  if (version >> 32 != board_version >> 32)
    throw device_error(access_->name() + " has registers of version " +
                       std::to_string(version >> 32) + ", this library supports version " +
                       std::to_string(board_version >> 32) +
                       "; use a library and a board of the same release");
  Geometry& g = identity_.geometry;
  bool valid = true;
  for (const SizeRegister& size : size_registers) {
    const std::uint64_t value = read(size.reg);
    valid = valid && value >= 1 && value <= size.max;
    g.*size.field = static_cast<std::uint32_t>(value);
  }
  g.dram_bytes = read(Register::MemoryBytes);
  g.clock_hz = std::bit_cast<double>(read(Register::ClockHz));
  valid = valid && g.dram_bytes >= 4096 && g.dram_bytes <= max_memory_bytes &&
          std::isfinite(g.clock_hz) && g.clock_hz > 0;
  if (!valid)
    throw device_error(
        access_->name() +
        " has registers with an invalid geometry or clock; reset or replace the board");
  identity_.engine = name_at(*access_, Register::EngineName);
  identity_.isa = name_at(*access_, Register::IsaName);
  identity_.capabilities = read(Register::Capabilities);
}

void RemoteBoard::prepare_rings() {
  const unsigned chips = identity_.geometry.chips_per_board;
  rings_.push_back({queue_registers({}), 0, board_entries});
  resend_offset_ = board_entries * sizeof(Descriptor);
  for (unsigned c = 0; c < chips; ++c) {
    rings_.push_back({queue_registers(c), resend_offset_, chip_entries});
    resend_offset_ += chip_entries * sizeof(Descriptor);
  }
  control_ = access_->allocate(resend_offset_ + sizeof(Completion));
  max_data_bytes_ = access_->largest_area();
  data_ = access_->allocate(std::min(first_data_bytes, max_data_bytes_));
  programs_.chips.resize(chips);
  completed_programs_.chips.resize(chips);
}

/// Resets the board to its initial state, and waits until the reset is complete.
void RemoteBoard::reset() {
  for (const Ring& ring : rings_) {
    access_->write(ring.registers.ring_base, control_.bus + ring.offset);
    access_->write(ring.registers.ring_entries, ring.entries);
    access_->write(ring.registers.doorbell, 0);
  }
  access_->write(Register::InterruptMask, 0);
  access_->write(Register::Stop, 0);
  const std::uint64_t wanted = access_->read(Register::Resets) + 1;
  access_->write(Register::Control, wanted);
  access_->signal_doorbell();
  const std::chrono::duration<double> limit(response_timeout(timeout_seconds_));
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  while (access_->read(Register::Resets) != wanted) {
    if (access_->wait(std::chrono::microseconds(200)) == WaitResult::Disconnected)
      fail("its server ended during the reset of the board; restart the server");
    if (Clock::now() > end) fail("the board did not respond to a reset; restart it");
  }
}

void RemoteBoard::fail(const std::string& why) {
  failure_ = access_->name() + ": " + why;
  in_flight_.clear();
  throw BoardFailure(failure_);
}

void RemoteBoard::reset_counts() {
  reset_counts_ = true;
  counts_ = {};
}

LinkTimes RemoteBoard::times() const {
  return {transfer_seconds_, static_cast<double>(busy_nanoseconds_) * 1e-9};
}

/// Clears a stop request that took effect after the cancelled list had completed.
void RemoteBoard::clear_stop() {
  if (!stop_requested_) return;
  discard_in_flight();
  access_->write(Register::Stop, 0);
  stop_requested_ = discarded_ = false;
}

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
    throw device_error(access_->name() + ": a command list of " + std::to_string(bytes) +
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

/// Replaces the transfer memory by a larger one in which two such lists fit, or as large as
/// possible.
void RemoteBoard::reserve_transfer_memory(const std::vector<PreparedCommand>& prepared) {
  std::uint64_t words = 0;
  for (const PreparedCommand& p : prepared)
    words += p.payload_words + p.result_words + sizeof(Command) / 8;
  const std::uint64_t bytes = words * word_bytes + sizeof(Completion) + 4 * cache_line;
  if (bytes <= data_.bytes / 2 || data_.bytes >= max_data_bytes_) return;
  wait_for_completion();
  for (std::uint64_t wanted = std::min(std::bit_ceil(2 * bytes), max_data_bytes_);
       wanted > data_.bytes; wanted /= 2) {
    try {
      const DmaArea larger = access_->allocate(wanted);
      return access_->release(std::exchange(data_, larger));
    } catch (const Error&) {  // try less; a failed board is reported by the next list
    }
  }
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
    std::uint64_t in = payload_length(c, programs->of(c));
    const std::span<const std::uint64_t> payload = list.words_from(c.payload);
    if (in > payload.size()) in = 0;  // the board rejects the command
    if (c.kind == CommandKind::LoadProgram) {
      ProgramTiming program = object_timing(payload.first(in), c.count, identity_.geometry);
      if (std::exchange(programs, &changed) == &programs_) changed = programs_;
      changed.load(c, program);
      add(c, in, 0, std::move(program));
      continue;
    }
    const bool divisible =
        c.kind == CommandKind::WriteMemory || c.kind == CommandKind::WriteTargets;
    if (in <= max_words || !divisible) {
      add(c, in, result_length(c, programs->of(c)));
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
  const auto is_prepared = [&](const PreparedCommand& p) { return p.command.chips == chips; };
  const auto chip = static_cast<std::size_t>(std::countr_zero(chips));
  const bool one = std::has_single_bit(chips) && chip + 1 < rings_.size();
  return one && std::ranges::all_of(prepared, is_prepared) ? chip + 1 : 0;
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
        programs_.load(c, *p.program);
        entry.program_loads.push_back({k, c, *p.program});
      }
      work.add(c, programs_.of(c), identity_.geometry);
      if (entry.main_command != CommandKind::Run) entry.main_command = c.kind;
      std::memcpy(commands + k++ * command_words, &c, sizeof(c));
    }
    d.data_checksum = join_checksums(checksum({commands, prepared.size() * command_words}),
                                     checksum({payload, payload_words}));
  }
  if (in_flight_.empty()) timeout_ = {};
  timeout_ = timeout_ + timeout_policy(timeout_seconds_, work);
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
  access_->write(ring.registers.doorbell, ring.sequence);
  if ((access_->read(Register::Status) & status_asleep) != 0) access_->signal_doorbell();
}

void RemoteBoard::execute(const CommandList& list, std::vector<std::uint64_t>& results,
                          const std::stop_token& stop) {
  if (!failure_.empty()) throw BoardFailure(failure_);
  stop_ = stop;
  clear_stop();
  if (stop.stop_requested()) throw Cancelled();
  results.clear();
  std::vector<std::uint64_t> part;
  auto lists = divide(list);
  const std::uint64_t limit = max_payload_words();
  for (const std::vector<PreparedCommand>& prepared : lists) reserve_transfer_memory(prepared);
  if (max_payload_words() < limit) lists = divide(list);  // less memory than requested
  for (const std::vector<PreparedCommand>& prepared : lists) {
    submit(prepared, list);
    if (in_flight_.back().result_capacity == 0 && !list.commands.empty()) continue;
    while (in_flight_.size() > 1) complete_oldest(nullptr);
    if (lists.size() == 1) return complete_oldest(&results);
    complete_oldest(&part);
    results.insert(results.end(), part.begin(), part.end());
  }
}

/// Stops the lists in flight; the next call waits for their end, and clears the request.
void RemoteBoard::discard_started() noexcept {
  BoardLink::discard_started();
  if (in_flight_.empty()) return;
  access_->write(Register::Stop, 1);
  stop_requested_ = discarded_ = true;
}

void RemoteBoard::wait_for_completion() {
  if (discarded_) clear_stop();
  while (!in_flight_.empty()) complete_oldest(nullptr);
}

}  // namespace gdr::driver
