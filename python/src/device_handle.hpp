// An open device of Python: shared by its jobs, closed once, used by one thread at a time.
#pragma once

#include <pybind11/pybind11.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "background.hpp"
#include "gdr/device.hpp"

namespace gdr::python {

class DeviceHandle {
 public:
  /// With a communicator's Fortran handle: a device on its ranks.
  explicit DeviceHandle(const std::string& name, std::optional<std::int32_t> communicator = {});
  DeviceHandle(const DeviceHandle&) = delete;
  DeviceHandle& operator=(const DeviceHandle&) = delete;
  ~DeviceHandle();

  /// Closing the device calls `release`, unless `object` has been detached before.
  void attach(const void* object, std::function<void()> release) {
    dependents_.emplace(object, std::move(release));
  }
  void detach(const void* object) { dependents_.erase(object); }

  /// The device. Throws Error (Device) if it is closed, and in a child process forked after it was
  /// opened, which lacks its threads.
  Device& device();
  bool closed() const noexcept { return !device_.has_value(); }

  /// The result of `work`, a function of Device&, which runs without the GIL after the work of
  /// other threads. To be called with the GIL held. When a signal handler throws (Ctrl-C:
  /// KeyboardInterrupt), the device is interrupted, and the handler's exception is thrown as soon
  /// as `work` has ended. If MPI allows calls from one thread only, `work` runs in the calling
  /// thread and signals are handled after it.
  ///
  /// `brief`: the work takes no more than some milliseconds on an emulated device. It then runs in
  /// the calling thread, without the two changes of threads, and signals are handled after it.
  ///
  /// `poll` is called from time to time meanwhile, with the GIL held, and may throw like a signal
  /// handler. Without one, a run that takes some seconds shows a bar with its progress.
  template <typename Work>
  auto run(const Work& work, bool brief = false, const std::function<void()>& poll = {}) {
    using Result = std::invoke_result_t<const Work&, Device&>;
    if constexpr (std::is_void_v<Result>) {
      execute(work, brief, poll);
    } else {
      std::optional<Result> result;
      execute([&](Device& device) { result.emplace(std::invoke(work, device)); }, brief, poll);
      return *std::move(result);
    }
  }
  /// Runs `exchange`, a communication of all ranks, in the calling thread. A signal that arrives
  /// meanwhile is handled when this returns; if its handler throws, the next run() is interrupted
  /// and throws the handler's exception: leaving the call here would let the other ranks wait for
  /// this one.
  void exchange(const std::function<void(Device&)>& exchange);
  /// Counts work that computes in the background: behind it no other work is brief.
  void begin_background() { ++background_; }
  void end_background() { --background_; }
  /// Closes the device after the work of other threads. Closing it twice has no effect.
  void close();

 private:
  /// Waits for exclusive use of the device, and handles signals meanwhile.
  std::unique_lock<std::timed_mutex> acquire();
  void execute(const std::function<void(Device&)>& work, bool brief,
               const std::function<void()>& poll);
  void throw_pending_signal();

  std::optional<Device> device_;
  std::map<const void*, std::function<void()>> dependents_;
  std::timed_mutex mutex_;
  /// Leaked in a forked child, where its thread does not exist and cannot be joined.
  std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();
  bool any_thread_;
  bool brief_allowed_;       ///< whether small work is fast
  unsigned background_ = 0;  ///< guarded by the GIL
  /// The exception of a signal handler during an exchange, for the next run.
  std::optional<pybind11::error_already_set> pending_signal_;
  pid_t process_;
};

using DevicePointer = std::shared_ptr<DeviceHandle>;

/// An object of a device: a job, a product, a solver. Closing the device destroys it even if Python
/// still refers to it, so that a board of another process is released. The GIL must be held.
template <typename Object>
class DeviceObject {
 public:
  /// `make` creates the object from the device.
  template <typename Make>
  DeviceObject(DevicePointer device, const Make& make)
      : device_(std::move(device)), object_(std::in_place, make(device_->device())) {
    device_->attach(this, [this] { release(); });
  }
  DeviceObject(const DeviceObject&) = delete;
  DeviceObject& operator=(const DeviceObject&) = delete;
  ~DeviceObject() {
    device_->detach(this);
    release();
  }

  /// Throws Error (Device) if the device is closed.
  Object& operator*() {
    device_->device();
    return *object_;
  }
  Object* operator->() { return &**this; }
  /// Runs `work` on the object, like DeviceHandle::run.
  template <typename Work>
  auto run(const Work& work, bool brief = false, const std::function<void()>& poll = {}) {
    return device_->run([&](Device&) { return std::invoke(work, *object_); }, brief, poll);
  }
  DeviceHandle& device() { return *device_; }

 private:
  /// Destroying the object cancels its work, which takes some time: the GIL is released.
  void release() {
    // Another thread may destroy *this while the GIL is released: only the local is used then.
    std::optional<Object> released = std::move(object_);
    object_.reset();
    const pybind11::gil_scoped_release without_gil;
    released.reset();
  }

  DevicePointer device_;
  std::optional<Object> object_;
};

}  // namespace gdr::python
