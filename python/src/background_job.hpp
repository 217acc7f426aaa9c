// Jobs that may compute in the background, with the arrays that they fill.
#pragma once

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gdr/error.hpp"

namespace gdr::python {

/// Keeps the result arrays of a background run alive until the run has ended. `AnyJob` is a Job or
/// a SetJob.
template <typename AnyJob>
class BackgroundJob {
 public:
  bool ready() { return job_->ready(); }
  void wait() { finish(); }
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

 protected:
  template <typename Make>
  BackgroundJob(DevicePointer device, const Make& make) : job_(std::move(device), make) {}

  ~BackgroundJob() { end(); }

  /// Notes that a run computes in the background.
  void begin() {
    if (!started_) job_.device().begin_background();
    started_ = true;
  }

  /// Waits for the background run and handles signals. The device stays available to other threads.
  void finish() {
    if (!started_) {
      static_cast<void>(*job_);  // throws if the device is closed
      return;
    }
    while (!job_->ready()) {
      {
        const py::gil_scoped_release released;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (PyErr_CheckSignals() == 0) continue;
      const py::error_already_set signal;
      stop();
      throw signal;
    }
    pending_.clear();
    end();
    job_.run([&](AnyJob& j) { j.wait(); });
  }

  std::vector<NamedArrays<NamedResult>> pending_;  ///< arrays of the background run
  DeviceObject<AnyJob> job_;                       // destroyed before the arrays that it fills

 private:
  void end() {
    if (started_) job_.device().end_background();
    started_ = false;
  }
  /// Interrupts the running work of the device, in all queues; queued work is kept.
  void stop() {
    try {
      while (!job_->ready()) {
        job_.device().device().interrupt();
        const py::gil_scoped_release released;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      job_->wait();
    } catch (const Error&) {  // the error of the interrupted run
    }
    pending_.clear();
    end();
  }

  bool started_ = false;  ///< whether a run may be computing in the background
};

}  // namespace gdr::python
