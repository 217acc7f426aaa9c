#include "libgdr/device/account.hpp"

#include <algorithm>

namespace gdr {
namespace {

/// Boards work side by side: the slowest counts for clocks and time, all of them for bytes.
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

/// All boards' engines together.
EngineWork engine_work(const std::vector<BoardSlot>& boards) {
  EngineWork all;
  for (const BoardSlot& slot : boards) {
    const EngineWork work = slot.board->engine_work();
    all.fast_runs += work.fast_runs;
    all.slow_runs += work.slow_runs;
    all.compile_seconds += work.compile_seconds;
    if (all.reason.empty()) all.reason = work.reason;
  }
  return all;
}

}  // namespace

Account::Account(DeviceCore& device) : device_(device), before_(engine_work(device.boards)) {
  for (BoardSlot& slot : device.boards) slot.board->reset_counts();
}

void Account::done(std::uint64_t interactions, double flops) noexcept {
  runs_ = 1;
  interactions_ = interactions;
  flops_ = flops;
}

Account::~Account() {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  const WorkCounts counts = combined(device_.boards);
  const std::scoped_lock lock(device_.counters);
  Statistics& s = device_.statistics;
  s.compute_clocks += counts.compute_clocks;
  s.chip_clocks += counts.chip_clocks;
  s.bytes_to_board += counts.link_write_bytes;
  s.bytes_from_board += counts.link_read_bytes;
  s.predicted_seconds += counts.predicted_seconds;
  s.host_seconds += spent.count();
  const EngineWork work = engine_work(device_.boards);
  s.fast_runs += work.fast_runs - before_.fast_runs;
  s.slow_runs += work.slow_runs - before_.slow_runs;
  s.compile_seconds += work.compile_seconds - before_.compile_seconds;
  s.slow_reason = work.reason;
  s.runs += runs_;
  s.interactions += interactions_;
  s.flops += flops_;
}

}  // namespace gdr
