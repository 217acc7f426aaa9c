// Set-up and reset of a board, and execution of command lists.
#include "libgdr/driver/remote_board.hpp"

#include <algorithm>
#include <utility>

#include "libgdr/driver/in_flight.hpp"

namespace gdr::driver {
namespace {

/// Ring sizes. The number of lists in flight stays below both.
constexpr std::uint64_t board_entries = 64, chip_entries = 32;
static_assert(max_lists_in_flight < chip_entries);
constexpr std::uint64_t first_data_bytes = std::uint64_t{4} << 20;

}  // namespace

RemoteBoard::RemoteBoard(std::unique_ptr<BoardAccess> access, const DriverOptions& options)
    : access_(std::move(access)), options_(options) {
  identify();
  prepare_rings();
  reset();
}

RemoteBoard::~RemoteBoard() {
  if (control_.memory != nullptr) access_->release(control_);
  if (data_.memory != nullptr) access_->release(data_);
}

void RemoteBoard::prepare_rings() {
  const unsigned chips = identity_.geometry.chips_per_board;
  std::uint64_t offset = 0;
  const auto add = [&](Ring ring) {
    ring.offset = offset;
    offset += ring.entries * sizeof(Descriptor);
    rings_.push_back(ring);
  };
  add({Register::Doorbell, Register::Head, Register::Status, status_failed, 0, board_entries});
  for (unsigned c = 0; c < chips; ++c)
    add({of_chip(Register::ChipDoorbell, c), of_chip(Register::ChipHead, c),
         of_chip(Register::ChipStatus, c), chip_failed, 0, chip_entries});
  resend_offset_ = offset;
  control_ = access_->allocate(offset + sizeof(Completion));
  max_data_bytes_ = access_->largest_area();
  data_ = access_->allocate(std::min(first_data_bytes, max_data_bytes_));
  programs_.resize(chips);
  completed_programs_.resize(chips);
}

/// Resets the board to its initial state, and waits until the reset is complete.
void RemoteBoard::reset() {
  const auto place = [&](const Ring& ring, Register base, Register entries) {
    access_->write(base, control_.bus + ring.offset);
    access_->write(entries, ring.entries);
    access_->write(ring.doorbell, 0);
  };
  place(rings_.front(), Register::RingBase, Register::RingEntries);
  for (unsigned c = 0; c + 1 < rings_.size(); ++c)
    place(rings_[c + 1], of_chip(Register::ChipRingBase, c), of_chip(Register::ChipRingEntries, c));
  access_->write(Register::InterruptMask, 0);
  access_->write(Register::Stop, 0);
  const std::uint64_t wanted = access_->read(Register::Resets) + 1;
  access_->write(Register::Control, wanted);
  access_->signal_doorbell();
  const std::chrono::duration<double> limit(response_timeout(options_.timeout_seconds));
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
  stop_requested_ = false;
}

void RemoteBoard::execute(const CommandList& list, std::vector<std::uint64_t>& results,
                          const std::stop_token& stop) {
  if (!failure_.empty()) throw BoardFailure(failure_);
  stop_ = stop;
  clear_stop();
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

void RemoteBoard::wait_for_completion() {
  while (!in_flight_.empty()) complete_oldest(nullptr);
}

std::unique_ptr<RemoteBoard> open_remote_board(std::unique_ptr<BoardAccess> access,
                                               const DriverOptions& options) {
  return std::make_unique<RemoteBoard>(std::move(access), options);
}

}  // namespace gdr::driver
