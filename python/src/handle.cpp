#include "handle.hpp"

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <new>

#include "gdr/error.hpp"
#include "ranks.hpp"

namespace py = pybind11;

namespace gdr::python {
namespace {

constexpr std::chrono::milliseconds signal_interval{50};
constexpr std::chrono::milliseconds stop_interval{10};

}  // namespace

DeviceHandle::DeviceHandle(const std::string& name, std::optional<std::int32_t> communicator)
    : device_(communicator ? Device::open_on_ranks(*communicator, name) : Device::open(name)),
      in_any_thread_(works_in_any_thread(*device_)),
      process_(getpid()) {}

DeviceHandle::~DeviceHandle() {
  if (getpid() == process_) return;
  // A forked child has none of the threads that closing would wait for: leave everything as it is.
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

std::unique_lock<std::timed_mutex> DeviceHandle::take_turn() {
  std::unique_lock turn(turn_, std::try_to_lock);
  while (!turn.owns_lock()) {
    {
      const py::gil_scoped_release released;
      if (turn.try_lock_for(signal_interval)) break;
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return turn;
}

void DeviceHandle::run(const std::function<void(Device&)>& work) {
  const std::unique_lock turn = take_turn();
  Device& open = device();
  if (!in_any_thread_) {
    const py::gil_scoped_release released;
    return work(open);
  }
  worker_->begin([&] { work(open); });
  std::optional<py::error_already_set> signal;
  for (;;) {
    bool done = false;
    {
      const py::gil_scoped_release released;
      done = worker_->done_within(signal ? stop_interval : signal_interval);
      // What runs in pieces may begin another one: asked again until it has stopped.
      if (!done && signal) open.interrupt();
    }
    if (done) break;
    if (!signal && PyErr_CheckSignals() != 0) signal.emplace();
  }
  if (signal) {
    try {
      worker_->finish();
    } catch (...) {  // that the work was abandoned is known
    }
    throw *signal;
  }
  worker_->finish();
}

void DeviceHandle::close() {
  const std::unique_lock turn = take_turn();
  if (!device_) return;
  device();
  // Closed at once for threads of Python that come meanwhile: they find none, not half of one.
  std::optional<Device> closing = std::move(device_);
  device_.reset();
  without_gil([&closing] { closing.reset(); });
  // One at a time: meanwhile other threads may be done with some.
  while (!parts_.empty()) {
    Part* const part = *parts_.begin();
    parts_.erase(part);
    part->drop();
  }
}

void DeviceHandle::without_gil(const std::function<void()>& work) {
  const py::gil_scoped_release released;
  work();
}

}  // namespace gdr::python
