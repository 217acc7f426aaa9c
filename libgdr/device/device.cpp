// Devices: description, statistics, and creation of jobs.
#include "gdr/device.hpp"

#include <utility>

#include "gdr/error.hpp"
#include "libgdr/device/background_check.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/job_impl.hpp"
#include "libgdr/device/self_test.hpp"

namespace gdr {

struct Device::Impl {
  std::shared_ptr<DeviceCore> core;
  std::unique_ptr<BackgroundCheck> check;
  explicit Impl(std::shared_ptr<DeviceCore> c) : core(std::move(c)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (!core->queue.in_its_process()) {
      detach_after_fork();
      return;
    }
    if (check) check->end();
    core->queue.close();
  }

 private:
  /// In a forked child: leaks the objects of the parent, whose threads do not exist here.
  void detach_after_fork() noexcept {
    static_cast<void>(check.release());
    [[maybe_unused]] const auto* const leaked = new std::shared_ptr<DeviceCore>(std::move(core));
  }
};

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

Device Device::over(std::shared_ptr<DeviceCore> core, double health_check_interval) {
  auto impl = std::make_unique<Impl>(std::move(core));
  if (health_check_interval > 0)
    impl->check = std::make_unique<BackgroundCheck>(impl->core, health_check_interval);
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

Job Device::job(const Kernel& kernel) {
  return Job(std::make_unique<Job::Impl>(impl_->core, kernel));
}

std::size_t Device::target_slots(const Kernel& kernel) const {
  return impl_->core->boards.size() * board_slots(kernel_cost(kernel.program()),
                                                  impl_->core->geometry,
                                                  ChipPartition::TargetsOverBlocks);
}

Statistics Device::statistics() const {
  const std::scoped_lock lock(impl_->core->counters);
  return impl_->core->statistics;
}

void Device::reset_statistics() {
  const std::scoped_lock lock(impl_->core->counters);
  Statistics& s = impl_->core->statistics;
  Statistics fresh;
  fresh.engine = s.engine;
  fresh.isa = s.isa;
  fresh.threads = s.threads;
  fresh.failed_boards = s.failed_boards;
  fresh.failed_ranks = s.failed_ranks;
  s = std::move(fresh);
}

void Device::interrupt() noexcept { impl_->core->queue.interrupt(); }

std::string Device::description() const {
  const DeviceCore& core = *impl_->core;
  const auto counted = [](std::size_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const Statistics s = statistics();
  if (core.ranks)
    return "mpi: " + counted(core.ranks->size(), "rank") + " (" + core.ranks->library() +
           "), each with " + counted(core.boards.size(), "board") + " of " +
           counted(core.geometry.chips_per_board, "chip") + ", " + s.engine + " engine, " + s.isa;
  const std::string reason = core.reason.empty() ? "" : " (" + core.reason + ")";
  return core.where + ": " + counted(core.boards.size(), "board") + " of " +
         counted(core.geometry.chips_per_board, "chip") + ", " + s.engine + " engine, " + s.isa +
         reason;
}

std::vector<BoardTest> Device::test(unsigned rounds) {
  std::vector<BoardTest> tests;
  Work work;
  work.body = [&](const std::stop_token& stop) {
    tests = test_boards(*impl_->core, rounds, 1, stop);
  };
  impl_->core->queue.run(work);
  return tests;
}

}  // namespace gdr
