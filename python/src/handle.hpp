// An open device as Python holds it: shared by its jobs, closed once, used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gdr/device.hpp"
#include "worker.hpp"

namespace gdr::python {

class DeviceHandle {
 public:
  /// With a communicator's Fortran handle: a device of its ranks.
  explicit DeviceHandle(const std::string& name, std::optional<std::int32_t> communicator = {});
  DeviceHandle(const DeviceHandle&) = delete;
  DeviceHandle& operator=(const DeviceHandle&) = delete;
  ~DeviceHandle();

  /// The device; throws Error (Device) once it was closed, and in a process that was forked off
  /// after it was opened: its threads stayed behind.
  Device& device();
  bool closed() const noexcept { return !device_.has_value(); }

  /// Do something with the device, after other threads' work, without the GIL. When a signal's
  /// handler throws (Ctrl-C: KeyboardInterrupt), the device is asked to stop, and what the handler
  /// threw is thrown as soon as it has. To be called with the GIL held. Where MPI allows its calls
  /// in one thread only, that is the caller's, and signals wait.
  void run(const std::function<void(Device&)>& work);
  /// Close the device; waits for work that other threads have under way. Closing twice is nothing.
  void close();

 private:
  /// Wait for the turn of this thread, looking at signals.
  std::unique_lock<std::timed_mutex> take_turn();

  std::optional<Device> device_;
  std::timed_mutex turn_;
  /// Left to itself in a forked child, where its thread does not exist and cannot be joined.
  std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();
  bool in_any_thread_;
  pid_t process_;
};

using DevicePointer = std::shared_ptr<DeviceHandle>;

}  // namespace gdr::python
