// Boards of a device, and the accounting of its runs.
#include "libgdr/device/core.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

#include "emulator/host/host_limits.hpp"
#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/access.hpp"

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

}  // namespace

void BoardSlot::load_program(const Kernel& kernel, unsigned chips, const std::stop_token& stop) {
  if (contents.holds(kernel)) return;
  if (stop.stop_requested()) throw Cancelled();
  contents.invalidate();
  const std::vector<std::uint8_t>& object = kernel.program_object();
  CommandList load;
  const std::size_t length = (object.size() + 7) / 8;
  if (object_words.size() < length) object_words.resize(length);
  std::memcpy(object_words.data(), object.data(), object.size());
  Command& command = load.commands.emplace_back();
  command.kind = CommandKind::LoadProgram;
  command.count = object.size();
  command.payload = load.borrow(std::span(object_words).first(length));
  std::vector<std::uint64_t> none;
  board->execute(load, none, stop);
  contents.loaded(kernel, chips);
}

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

std::vector<std::size_t> DeviceCore::run_on_boards(const std::vector<BoardSlot*>& slots,
                                                   bool in_order,
                                                   const std::function<void(std::size_t)>& work) {
  if (slots.size() == 1) {
    try {
      work(0);
    } catch (const driver::BoardFailure& e) {
      fail(*slots.front(), e.what());
      return {0};
    }
    return {};
  }
  std::vector<std::exception_ptr> errors(slots.size());
  std::vector<std::string> failures(slots.size());
  const auto run = [&](std::size_t k) noexcept {
    try {
      work(k);
    } catch (const driver::BoardFailure& e) {
      failures[k] = e.what();
    } catch (...) {
      errors[k] = std::current_exception();
    }
  };
  if (slots.front()->board->is_remote() && !in_order) {
    run_concurrently(slots.size(), run);
  } else {
    for (std::size_t k = 0; k < slots.size() && (k == 0 || !errors[k - 1]); ++k) run(k);
  }
  std::vector<std::size_t> failed;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (failures[k].empty()) continue;
    fail(*slots[k], failures[k]);
    failed.push_back(k);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return failed;
}

void DeviceCore::add_conversion_time(double seconds) {
  const std::scoped_lock lock(counters);
  statistics.conversion_seconds += seconds;
}

void add_counters(Statistics& to, const Statistics& from) {
  to.runs += from.runs;
  to.interactions += from.interactions;
  to.flops += from.flops;
  to.compute_clocks += from.compute_clocks;
  to.chip_clocks += from.chip_clocks;
  to.bytes_to_board += from.bytes_to_board;
  to.bytes_from_board += from.bytes_from_board;
  to.predicted_seconds += from.predicted_seconds;
  to.fast_runs += from.fast_runs;
  to.fallback_runs += from.fallback_runs;
  to.gpu_runs += from.gpu_runs;
  if (!from.fallback_reason.empty()) to.fallback_reason = from.fallback_reason;
  to.compile_seconds += from.compile_seconds;
  to.conversion_seconds += from.conversion_seconds;
  to.transfer_seconds += from.transfer_seconds;
  to.board_seconds += from.board_seconds;
  to.overlap_seconds += from.overlap_seconds;
}

BoardTotals::BoardTotals(const std::vector<BoardSlot>& boards) {
  for (const BoardSlot& slot : boards) {
    const EngineStats stats = slot.board->engine_stats();
    engine.fast_runs += stats.fast_runs;
    engine.fallback_runs += stats.fallback_runs;
    engine.gpu_runs += stats.gpu_runs;
    engine.compile_seconds += stats.compile_seconds;
    if (engine.reason.empty()) engine.reason = stats.reason;
    const LinkTimes times = slot.board->times();
    link.transfer_seconds += times.transfer_seconds;
    link.busy_seconds += times.busy_seconds;
  }
}

StatisticsScope::StatisticsScope(DeviceCore& device) : device_(device) {
  if (!device.counted) device.counted.emplace(device.boards);
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
  const BoardTotals before = std::move(*device_.counted);
  const BoardTotals& now = device_.counted.emplace(device_.boards);
  const double transfers = now.link.transfer_seconds - before.link.transfer_seconds;
  const double busy = now.link.busy_seconds - before.link.busy_seconds;
  const std::scoped_lock lock(device_.counters);
  Statistics& s = device_.statistics;
  s.conversion_seconds += conversion_seconds_;
  s.transfer_seconds += transfers;
  s.board_seconds += busy;
  s.overlap_seconds += std::max(0.0, conversion_seconds_ + transfers + busy - spent);
  s.compute_clocks += counts.compute_clocks;
  s.chip_clocks += counts.chip_clocks;
  s.bytes_to_board += counts.link_write_bytes;
  s.bytes_from_board += counts.link_read_bytes;
  s.predicted_seconds += counts.predicted_seconds;
  s.host_seconds += spent;
  s.fast_runs += now.engine.fast_runs - before.engine.fast_runs;
  s.fallback_runs += now.engine.fallback_runs - before.engine.fallback_runs;
  s.gpu_runs += now.engine.gpu_runs - before.engine.gpu_runs;
  s.compile_seconds += now.engine.compile_seconds - before.engine.compile_seconds;
  s.fallback_reason = now.engine.reason;
  if (const std::string limits = host_limits_text(); !limits.empty())
    s.fallback_reason += (s.fallback_reason.empty() ? "" : "; ") + limits;
  s.runs += runs_;
  s.interactions += interactions_;
  s.flops += flops_;
}

}  // namespace gdr
