// Opening a device by its name: its kind, its queues, and their threads.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/host/threads.hpp"
#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/openers.hpp"
#include "libgdr/device/queue.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

std::shared_ptr<DeviceCore> open_mpi(const DeviceName& name) { return open_on_ranks(name, {}); }

struct Opener {
  std::string_view kind;
  std::shared_ptr<DeviceCore> (*open)(const DeviceName&);
};
constexpr Opener openers[] = {
    {"emulator", open_emulator}, {"board", open_board}, {"mpi", open_mpi}, {"auto", open_best}};

/// Opens the queues of a device. Each gets a share of the threads, so that they do not compete for
/// the cores.
std::vector<std::shared_ptr<DeviceCore>> open_queues(DeviceName name) {
  const unsigned queues = name.options.queues;
  if (queues == 1) return {open_core(name)};
  const unsigned threads = usable_threads(name.options.threads);
  std::vector<std::shared_ptr<DeviceCore>> all;
  for (unsigned q = 0; q < queues; ++q) {
    name.options.threads = std::max(1U, threads / queues + (q < threads % queues ? 1 : 0));
    all.push_back(open_core(name));
  }
  return all;
}

}  // namespace

std::shared_ptr<DeviceCore> open_core(const DeviceName& name) {
  for (const Opener& opener : openers)
    if (opener.kind == name.kind) return opener.open(name);
  throw Error(ErrorCategory::Unsupported,
              "devices of kind \"" + name.kind + "\" are not supported by this build");
}

Device Device::open(std::string_view name, const DeviceOptions& options) {
  DeviceName parsed = parse_device_name(name, options);
  parsed.options.threads = threads_after_fork(parsed.options.threads);
  if (parsed.options.health_check_interval > 0 && parsed.kind == "mpi")
    throw Error(
        ErrorCategory::Usage,
        "device option health_check: not supported for devices of kind mpi; remove the option");
  return Device::over(open_queues(parsed), parsed.options.health_check_interval);
}

Device Device::open_on_ranks(std::int32_t communicator, std::string_view name,
                             const DeviceOptions& options) {
  const DeviceName parsed = parse_device_name(name, options);
  if (parsed.kind != "mpi")
    throw Error(ErrorCategory::Usage, "a communicator requires a device of kind \"mpi\", not \"" +
                                          parsed.kind + "\"; use mpi:option=value");
  return Device::over({gdr::open_on_ranks(parsed, communicator)});
}

}  // namespace gdr
