#include "device_handle.hpp"

#include <unistd.h>

#include "gdr/error.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace py = pybind11;

namespace gdr::python {
namespace {

constexpr std::chrono::milliseconds signal_interval{50};
constexpr std::chrono::milliseconds interrupt_interval{10};

/// False if MPI provides less than MPI_THREAD_MULTIPLE: only the thread that opened the device may
/// use it.
bool any_thread_allowed(Device& device) {
  const RankGroup* const ranks = DeviceRanks::group(device);
  return ranks == nullptr || ranks->any_thread();
}

/// Whether small work takes milliseconds at most: emulated in this process, and not by the slowest
/// engine.
bool small_is_fast(Device& device) {
  return device.description().starts_with("emulator") && device.ranks() == 1 &&
         device.statistics().engine != "reference";
}

/// A progress bar for work that has none of its own (gdr._progress). To be used with the GIL held.
class RunBar {
 public:
  explicit RunBar(const Device& device) : device_(device) {}
  RunBar(const RunBar&) = delete;
  RunBar& operator=(const RunBar&) = delete;
  ~RunBar() {
    try {
      close();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("a progress bar");
    }
  }

  /// Work may consist of many runs, of which each that takes long has a bar.
  void operator()() {
    const DeviceProgress now = device_.progress();
    if (now.begun != shown_) close();
    if (now.share <= 0) return;
    if (!bar_) {
      bar_ = py::module_::import("gdr._progress").attr("run_bar")(now.pairs);
      shown_ = now.begun;
    }
    bar_(now.share);
  }

 private:
  void close() {
    if (const py::object bar = std::exchange(bar_, {})) bar.attr("close")();
  }

  const Device& device_;
  py::object bar_;
  std::uint64_t shown_ = 0;  ///< number of the run of the bar
};

}  // namespace

DeviceHandle::DeviceHandle(const std::string& name, std::optional<std::int32_t> communicator)
    : device_(communicator ? Device::open_on_ranks(*communicator, name) : Device::open(name)),
      any_thread_(any_thread_allowed(*device_)),
      brief_allowed_(small_is_fast(*device_)),
      process_(getpid()) {}

DeviceHandle::~DeviceHandle() {
  if (getpid() == process_) return;
  // A forked child lacks the threads that closing waits for: leak everything.
  static_cast<void>(worker_.release());
  if (device_) new Device(std::move(*device_));
}

Device& DeviceHandle::device() {
  if (!device_) throw Error(ErrorCategory::Device, "the device has been closed");
  if (getpid() != process_)
    throw Error(ErrorCategory::Device,
                "the device was opened before this process was forked; open one in the child (or "
                "start processes with multiprocessing's method \"spawn\")");
  return *device_;
}

std::unique_lock<std::timed_mutex> DeviceHandle::acquire() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  while (!lock.owns_lock()) {
    {
      const py::gil_scoped_release released;
      if (lock.try_lock_for(signal_interval)) break;
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return lock;
}

namespace {

/// Calls `poll`; false, with Python's error set, if it throws.
bool polled(const std::function<void()>& poll) {
  try {
    poll();
  } catch (py::error_already_set& error) {
    error.restore();
    return false;
  }
  return true;
}

}  // namespace

void DeviceHandle::execute(const std::function<void(Device&)>& work, bool brief,
                           const std::function<void()>& poll) {
  const std::unique_lock lock = acquire();
  Device& open = device();
  if (!any_thread_ || (brief && brief_allowed_ && background_ == 0)) {
    {
      const py::gil_scoped_release released;
      work(open);
    }
    return throw_pending_signal();
  }
  std::future<void> done = worker_->start([&] { work(open); });
  RunBar bar(open);
  const std::function<void()> show = poll ? poll : [&bar] { bar(); };
  while (!completes_within(done, pending_signal_ ? interrupt_interval : signal_interval)) {
    if (!pending_signal_ && PyErr_CheckSignals() == 0 && polled(show)) continue;
    if (!pending_signal_) pending_signal_.emplace();
    do {  // The work may consist of several runs: interrupt each until the work has ended.
      const py::gil_scoped_release released;
      open.interrupt();
    } while (!completes_within(done, interrupt_interval));
    throw_pending_signal();
  }
  done.get();
  throw_pending_signal();
}

void DeviceHandle::throw_pending_signal() {
  if (const std::optional<py::error_already_set> signal = std::exchange(pending_signal_, {}))
    throw *signal;
}

void DeviceHandle::exchange(const std::function<void(Device&)>& exchange) {
  const std::unique_lock lock = acquire();
  Device& open = device();
  try {
    const py::gil_scoped_release released;
    exchange(open);
  } catch (...) {  // on all ranks: none waits for this one
    throw_pending_signal();
    throw;
  }
  if (PyErr_CheckSignals() != 0 && !pending_signal_) pending_signal_.emplace();
}

void DeviceHandle::close() {
  const std::unique_lock lock = acquire();
  if (!device_) return;
  device();
  // Other Python threads must see the device closed before the GIL is released.
  std::optional<Device> closing = std::move(device_);
  device_.reset();
  {
    const py::gil_scoped_release released;
    closing.reset();
  }
  // Releasing one may let other threads detach others.
  while (!dependents_.empty()) {
    const auto release = std::move(dependents_.begin()->second);
    dependents_.erase(dependents_.begin());
    release();
  }
}

}  // namespace gdr::python
