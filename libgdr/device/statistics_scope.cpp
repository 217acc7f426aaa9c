#include "libgdr/device/statistics_scope.hpp"

#include <algorithm>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Boards work concurrently: clocks and times are maxima over the boards, bytes are sums.
WorkCounts combined(const std::vector<BoardSlot>& boards) {
  WorkCounts all;
  for (const BoardSlot& slot : boards) {
    const WorkCounts c = slot.board->counts();
    all.compute_clocks = std::max(all.compute_clocks, c.compute_clocks);
    all.chip_clocks = std::max(all.chip_clocks, c.chip_clocks);
    all.predicted_seconds = std::max(all.predicted_seconds, c.predicted_seconds);
    all.link_write_bytes += c.link_write_bytes;
    all.link_read_bytes += c.link_read_bytes;
  }
  return all;
}

/// Sums over the engines of all boards.
EngineStats engine_stats(const std::vector<BoardSlot>& boards) {
  EngineStats all;
  for (const BoardSlot& slot : boards) {
    const EngineStats work = slot.board->engine_stats();
    all.fast_runs += work.fast_runs;
    all.fallback_runs += work.fallback_runs;
    all.compile_seconds += work.compile_seconds;
    if (all.reason.empty()) all.reason = work.reason;
  }
  return all;
}

LinkTimes link_times(const std::vector<BoardSlot>& boards) {
  LinkTimes all;
  for (const BoardSlot& slot : boards) {
    const LinkTimes t = slot.board->times();
    all.transfer_seconds += t.transfer_seconds;
    all.busy_seconds += t.busy_seconds;
  }
  return all;
}

}  // namespace

std::vector<BoardSlot*> DeviceCore::usable() {
  std::vector<BoardSlot*> list;
  for (BoardSlot& slot : boards)
    if (!slot.failed) list.push_back(&slot);
  if (!list.empty()) return list;
  std::string text = "no board is left: " + boards.back().failure;
  if (boards.size() > 1)
    text = "all " + std::to_string(boards.size()) +
           " boards failed; the last: " + boards.back().failure;
  throw Error(ErrorCategory::Device, text + "; open the device again");
}

void DeviceCore::fail(BoardSlot& slot, const std::string& why) {
  slot.failed = true;
  slot.failure = why;
  slot.invalidate();
  const std::scoped_lock lock(counters);
  ++statistics.failed_boards;
}

void DeviceCore::add_conversion_time(double seconds) {
  const std::scoped_lock lock(counters);
  statistics.conversion_seconds += seconds;
}

StatisticsScope::StatisticsScope(DeviceCore& device)
    : device_(device),
      before_(engine_stats(device.boards)),
      times_before_(link_times(device.boards)) {
  for (BoardSlot& slot : device.boards) slot.board->reset_counts();
}

void StatisticsScope::complete(std::uint64_t interactions, double flops) noexcept {
  runs_ = 1;
  interactions_ = interactions;
  flops_ = flops;
}

StatisticsScope::~StatisticsScope() {
  const double spent = timer_.seconds();
  const WorkCounts counts = combined(device_.boards);
  LinkTimes times = link_times(device_.boards);
  times.transfer_seconds -= times_before_.transfer_seconds;
  times.busy_seconds -= times_before_.busy_seconds;
  const std::scoped_lock lock(device_.counters);
  Statistics& s = device_.statistics;
  s.conversion_seconds += conversion_seconds_;
  s.transfer_seconds += times.transfer_seconds;
  s.board_seconds += times.busy_seconds;
  s.overlap_seconds +=
      std::max(0.0, conversion_seconds_ + times.transfer_seconds + times.busy_seconds - spent);
  s.compute_clocks += counts.compute_clocks;
  s.chip_clocks += counts.chip_clocks;
  s.bytes_to_board += counts.link_write_bytes;
  s.bytes_from_board += counts.link_read_bytes;
  s.predicted_seconds += counts.predicted_seconds;
  s.host_seconds += spent;
  const EngineStats work = engine_stats(device_.boards);
  s.fast_runs += work.fast_runs - before_.fast_runs;
  s.fallback_runs += work.fallback_runs - before_.fallback_runs;
  s.compile_seconds += work.compile_seconds - before_.compile_seconds;
  s.fallback_reason = work.reason;
  s.runs += runs_;
  s.interactions += interactions_;
  s.flops += flops_;
}

}  // namespace gdr
