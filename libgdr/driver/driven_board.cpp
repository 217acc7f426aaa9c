// The driver's side of a board: rings, a reset, lists one after the other.
#include "libgdr/driver/driven_board.hpp"

#include <algorithm>
#include <utility>

#include "libgdr/driver/flights.hpp"

namespace gdr::driver {
namespace {

/// Lists under way at most are fewer than either.
constexpr std::uint64_t board_entries = 64, chip_entries = 32;
static_assert(most_flights < chip_entries);
constexpr std::uint64_t first_data_bytes = std::uint64_t{4} << 20;

}  // namespace

DrivenBoard::DrivenBoard(std::unique_ptr<BoardAccess> access, const DriverOptions& options)
    : access_(std::move(access)), options_(options) {
  identify();
  prepare_rings();
  reset();
}

DrivenBoard::~DrivenBoard() {
  if (control_.memory != nullptr) access_->release(control_);
  if (data_.memory != nullptr) access_->release(data_);
}

void DrivenBoard::prepare_rings() {
  const unsigned chips = identity_.geometry.chips_per_board;
  std::uint64_t at = 0;
  const auto add = [&](Ring ring) {
    ring.at = at;
    at += ring.entries * sizeof(Descriptor);
    rings_.push_back(ring);
  };
  add({Register::Doorbell, Register::Head, Register::Status, status_failed, 0, board_entries});
  for (unsigned c = 0; c < chips; ++c)
    add({of_chip(Register::ChipDoorbell, c), of_chip(Register::ChipHead, c),
         of_chip(Register::ChipStatus, c), chip_failed, 0, chip_entries});
  asked_at_ = at;
  control_ = access_->allocate(at + sizeof(Completion));
  largest_ = access_->largest_area();
  data_ = access_->allocate(std::min(first_data_bytes, largest_));
  programs_.resize(chips);
  collected_.resize(chips);
}

/// Asks for a reset and waits until it is over: then the board knows nothing of earlier owners.
void DrivenBoard::reset() {
  const auto place = [&](const Ring& ring, Register base, Register entries) {
    access_->write(base, control_.bus + ring.at);
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
  const std::chrono::duration<double> most(longest_silence(options_.timeout_seconds));
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
  while (access_->read(Register::Resets) != wanted) {
    if (access_->wait(std::chrono::microseconds(200)) == Woken::Gone)
      lose("its server ended while the board was reset");
    if (Clock::now() > end) lose("it does not answer a reset; restart it");
  }
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

/// After a stop that came too late for what was to be stopped.
void DrivenBoard::calm() {
  if (!stopping_) return;
  drop_flights();
  access_->write(Register::Stop, 0);
  stopping_ = false;
}

void DrivenBoard::execute(const CommandList& list, std::vector<std::uint64_t>& results,
                          const std::stop_token& stop) {
  if (!lost_.empty()) throw BoardLost(lost_);
  stop_ = stop;
  calm();
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

std::unique_ptr<DrivenBoard> drive_board(std::unique_ptr<BoardAccess> access,
                                         const DriverOptions& options) {
  return std::make_unique<DrivenBoard>(std::move(access), options);
}

}  // namespace gdr::driver
