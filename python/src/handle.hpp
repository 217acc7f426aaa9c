// An open device as Python holds it: shared by its jobs, closed once, used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

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

  /// Something that must go when the device is closed.
  class Part {
   public:
    virtual void drop() = 0;

   protected:
    ~Part() = default;
  };
  void attach(Part& part) { parts_.insert(&part); }
  void detach(Part& part) { parts_.erase(&part); }
  static void without_gil(const std::function<void()>& work);

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
  std::set<Part*> parts_;
  std::timed_mutex turn_;
  /// Left to itself in a forked child, where its thread does not exist and cannot be joined.
  std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();
  bool in_any_thread_;
  pid_t process_;
};

using DevicePointer = std::shared_ptr<DeviceHandle>;

/// What was made from a device, a job or a product. It goes when the device is closed, whoever
/// holds it: a board that is elsewhere is free then. All of it with the GIL held.
template <typename Made>
class Held final : private DeviceHandle::Part {
 public:
  /// `make` gives what is held, from the device.
  template <typename Make>
  Held(DevicePointer device, const Make& make)
      : device_(std::move(device)), made_(std::in_place, make(device_->device())) {
    device_->attach(*this);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    device_->detach(*this);
    drop();
  }

  /// Throws Error (Device) once the device was closed.
  Made& operator*() {
    device_->device();
    return *made_;
  }
  Made* operator->() { return &**this; }
  /// Do something with it, as DeviceHandle::run does.
  template <typename Work>
  void run(const Work& work) {
    device_->run([&](Device&) { work(*made_); });
  }
  DeviceHandle& device() { return *device_; }

 private:
  /// What is under way is stopped first: that takes a moment, and other threads go on.
  void drop() override {
    // Nothing of this object is touched behind that: it may have gone itself.
    std::optional<Made> going = std::move(made_);
    made_.reset();
    DeviceHandle::without_gil([&going] { going.reset(); });
  }

  DevicePointer device_;
  std::optional<Made> made_;
};

}  // namespace gdr::python
