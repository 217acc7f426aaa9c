// Devices: description, statistics, timeline, and periodic tests of their boards.
#include "gdr/device.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/host/host_limits.hpp"
#include "emulator/host/threads.hpp"
#include "gdr/error.hpp"
#include "gdr/timeline.hpp"
#include "gdr/version.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/prepare.hpp"
#include "libgdr/device/self_test.hpp"
#include "libgdr/device/timeline.hpp"

#ifndef GDR_VERSION
#error "the build defines GDR_VERSION (see libgdr/CMakeLists.txt)"
#endif

namespace gdr {
namespace {

using Queues = std::vector<std::shared_ptr<DeviceCore>>;

/// Calls task(queue) in each of the queues, in turn.
template <typename Task>
void run_in_each(const Queues& queues, const Task& task) {
  for (const std::shared_ptr<DeviceCore>& queue : queues) {
    Work work;
    work.body = [&](const std::stop_token& stop) { task(*queue, stop); };
    queue->queue.run(work);
  }
}

/// Tests all boards at an interval of seconds, through the queues like a run. A board that fails is
/// removed and its work reassigned to the others. Returns when no board is left, which the next job
/// reports, or after a stop request; closing the queues afterwards cancels a running test.
void test_periodically(const Queues& queues, double seconds, const std::stop_token& ended) {
  std::mutex mutex;
  std::condition_variable_any changed;
  try {
    for (unsigned round = 1;; ++round) {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, ended, std::chrono::duration<double>(seconds), [] { return false; });
      if (ended.stop_requested()) return;
      lock.unlock();
      for (const std::shared_ptr<DeviceCore>& queue : queues) {
        Work work;
        work.background = true;
        work.body = [&](const std::stop_token& stop) { test_boards(*queue, 1, round, stop); };
        queue->queue.run(work);
      }
      const std::scoped_lock counting(queues.front()->counters);
      ++queues.front()->statistics.checks;
    }
  } catch (const Error&) {  // no board is left or the device is closed: reported by the next use
  }
}

}  // namespace

const char* version() noexcept { return GDR_VERSION; }

struct Device::Impl {
  Queues queues;
  std::shared_ptr<DeviceCore> core;         ///< the first queue
  std::atomic<std::size_t> assignments{0};  ///< queues given to owners of work
  HostThread health_check;
  explicit Impl(Queues q) : queues(std::move(q)), core(queues.front()) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (core->queue.in_its_process()) {
      health_check.request_stop();
      for (const std::shared_ptr<DeviceCore>& queue : queues) queue->queue.close();
      return;
    }
    // In a forked child: leaks the objects of the parent, whose threads do not exist here.
    [[maybe_unused]] const auto* const thread = new HostThread(std::move(health_check));
    [[maybe_unused]] const auto* const leaked = new Queues(std::move(queues));
  }
};

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

Device Device::over(std::vector<std::shared_ptr<DeviceCore>> queues, double health_check_interval) {
  auto impl = std::make_unique<Impl>(std::move(queues));
  if (health_check_interval > 0) {
    impl->health_check =
        start_thread([all = impl->queues, health_check_interval](const std::stop_token& ended) {
          test_periodically(all, health_check_interval, ended);
        });
    if (!impl->health_check.joinable())
      throw Error(ErrorCategory::Device,
                  "health_check needs a thread: " + refused_thread_text() + ", or leave it out");
  }
  return Device(std::move(impl));
}

unsigned Device::rank() const noexcept {
  return impl_->core->ranks ? impl_->core->ranks->rank() : 0;
}
unsigned Device::ranks() const noexcept {
  return impl_->core->ranks ? impl_->core->ranks->size() : 1;
}
std::vector<RankReport> Device::rank_reports() {
  return impl_->core->ranks ? impl_->core->ranks->reports(*impl_->core) : std::vector<RankReport>();
}

std::vector<unsigned> Device::shrink() {
  if (!impl_->core->ranks)
    throw Error(ErrorCategory::Unsupported,
                "this device has one process; only devices of kind mpi can lose ranks");
  return impl_->core->ranks->shrink(*impl_->core);
}
void Device::retry_on_rank_failure(const std::function<void()>& work) {
  if (impl_->core->ranks)
    impl_->core->ranks->retry_on_rank_failure(*impl_->core, work);
  else
    work();
}

std::shared_ptr<DeviceCore> Device::core() const { return impl_->core; }
std::shared_ptr<DeviceCore> Device::next_queue() {
  return impl_->queues[impl_->assignments++ % impl_->queues.size()];
}

bool Device::needs_schedule() const { return impl_->core->needs_schedule(); }
Kernel Device::prepare(const Kernel& kernel, const std::stop_token& stop,
                       const std::function<void(double)>& progress) const {
  return prepare_for(*impl_->core, kernel, stop, progress);
}
Kernel prepare_for(const DeviceCore& core, const Kernel& kernel, const std::stop_token& stop,
                   const std::function<void(double)>& progress) {
  const bool ready = kernel.has_schedule() && !core.computes_in_floats();
  if (core.needs_schedule()) return kernel.scheduled(stop, progress);
  if (core.computes_in_floats()) return kernel.unscheduled();
  return (ready ? kernel.scheduled(stop, progress) : kernel.unscheduled()).with_longs();
}

std::size_t Device::target_slots(const Kernel& kernel) const {
  return impl_->core->boards.size() * board_slots(kernel_cost(prepare(kernel).program()),
                                                  impl_->core->geometry,
                                                  ChipPartition::TargetsOverBlocks);
}

Statistics Device::statistics() const {
  Statistics all;
  for (const std::shared_ptr<DeviceCore>& queue : impl_->queues) {
    const std::scoped_lock lock(queue->counters);
    const Statistics& s = queue->statistics;
    if (queue == impl_->core) {
      all = s;
      continue;
    }
    add_counters(all, s);
    all.host_seconds += s.host_seconds;
    all.threads += s.threads;
    all.failed_boards += s.failed_boards;
  }
  return all;
}

void Device::reset_statistics() {
  for (const std::shared_ptr<DeviceCore>& queue : impl_->queues) {
    const std::scoped_lock lock(queue->counters);
    Statistics& s = queue->statistics;
    Statistics fresh;
    fresh.engine = s.engine;
    fresh.isa = s.isa;
    fresh.threads = s.threads;
    fresh.failed_boards = s.failed_boards;
    fresh.failed_ranks = s.failed_ranks;
    s = std::move(fresh);
  }
}

void Device::interrupt() noexcept {
  for (const std::shared_ptr<DeviceCore>& queue : impl_->queues) queue->queue.interrupt();
}

DeviceProgress Device::progress() const noexcept {
  DeviceProgress all;
  for (const std::shared_ptr<DeviceCore>& queue : impl_->queues) {
    all.begun += queue->progress.begun();
    const double share = queue->progress.share();
    if (all.pairs > 0 && share <= all.share) continue;
    all.share = share;
    all.pairs = queue->progress.pairs();
  }
  return all;
}

std::string Device::description() const {
  const DeviceCore& core = *impl_->core;
  const auto counted = [](std::size_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const Statistics s = statistics();
  const std::string reason = core.reason.empty() ? "" : " (" + core.reason + ")";
  if (core.ranks)
    return "mpi: " + counted(core.ranks->size(), "rank") + " (" + core.ranks->library() +
           "), each with " + counted(core.boards.size(), "board") + " of " +
           counted(core.geometry.chips_per_board, "chip") + ", " + s.engine + " engine, " + s.isa +
           reason;
  const std::size_t queues = impl_->queues.size();
  const std::string of_each = queues == 1 ? "" : ", " + counted(queues, "queue");
  return core.where + ": " + counted(core.boards.size(), "board") + " of " +
         counted(core.geometry.chips_per_board, "chip") + ", " + s.engine + " engine, " + s.isa +
         of_each + reason;
}

std::vector<BoardTest> Device::test(unsigned rounds) {
  std::vector<BoardTest> tests;
  run_in_each(impl_->queues, [&](DeviceCore& queue, const std::stop_token& stop) {
    std::ranges::move(test_boards(queue, rounds, 1, stop), std::back_inserter(tests));
  });
  return tests;
}

// Through the queues, because a background test may be using the boards.
void Device::record_timeline(bool on) {
  run_in_each(impl_->queues, [&](DeviceCore& queue, const std::stop_token&) {
    queue.spans.record(on);
    for (BoardSlot& slot : queue.boards) slot.board->record(on);
  });
}

std::vector<TimelineEvent> Device::timeline() const {
  std::vector<TimelineEvent> events;
  unsigned number = 0;
  const double begin = impl_->core->spans.begin();
  run_in_each(impl_->queues, [&](DeviceCore& queue, const std::stop_token&) {
    append_host(events, queue.spans.spans(), begin);
    for (BoardSlot& slot : queue.boards)
      append_board(events, number++, slot.board->recorded(), begin);
  });
  for (TimelineEvent& event : events) event.rank = rank();
  return events;
}

std::vector<StreamStatistics> Device::streams() const {
  std::vector<StreamStatistics> all;
  for (const auto& queue : impl_->queues)
    for (const BoardSlot& slot : queue->boards)
      for (StreamStatistics& s : slot.board->streams()) all.push_back(std::move(s));
  return all;
}

double Device::timeline_seconds() const {
  const HostSpans& spans = impl_->core->spans;
  return spans.recording() ? steady_seconds() - spans.begin() : 0;
}

}  // namespace gdr
