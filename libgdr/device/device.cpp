// Opening devices by name, and what they tell about themselves.
#include "gdr/device.hpp"

#include <utility>

#include "libgdr/device/core.hpp"
#include "libgdr/device/job_impl.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {

struct Device::Impl {
  std::shared_ptr<DeviceCore> core;
  explicit Impl(std::shared_ptr<DeviceCore> c) : core(std::move(c)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { core->queue.close(); }
};

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

Device Device::open(std::string_view name, const DeviceOptions& options) {
  return Device(std::make_unique<Impl>(open_core(parse_device_name(name, options))));
}

std::shared_ptr<DeviceCore> Device::core() const { return impl_->core; }

Job Device::job(const Kernel& kernel) {
  return Job(std::make_unique<Job::Impl>(impl_->core, kernel));
}

std::size_t Device::target_slots(const Kernel& kernel) const {
  return impl_->core->boards.size() * board_slots(kernel_cost(kernel.program()),
                                                  impl_->core->geometry, Share::TargetsOverBlocks);
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
  s = std::move(fresh);
}

void Device::interrupt() noexcept { impl_->core->queue.interrupt(); }

std::string Device::description() const {
  const DeviceCore& core = *impl_->core;
  const auto counted = [](std::size_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const Statistics s = statistics();
  return "emulator: " + counted(core.boards.size(), "board") + " of " +
         counted(core.geometry.chips_per_board, "chip") + ", " + s.engine + " engine, " + s.isa;
}

}  // namespace gdr
