// What jobs and sets have in common: their runs go through the device's queue, and on a device of
// many ranks all of them take the same steps.
#pragma once

#include <memory>
#include <string_view>

#include "libgdr/device/core.hpp"

namespace gdr {

/// The runs of one owner, of which the queue has one at a time. Must be the last member of the
/// owner, whose data `work` uses: it ends the work before they are destroyed.
class QueuedCalls {
 public:
  explicit QueuedCalls(std::shared_ptr<DeviceCore> core) : core_(std::move(core)) {
    if (core_->ranks) number_ = core_->ranks->add_job();
  }
  QueuedCalls(const QueuedCalls&) = delete;
  QueuedCalls& operator=(const QueuedCalls&) = delete;
  ~QueuedCalls() {
    // Ranks that cancel at different points would deadlock.
    if (core_->ranks) {
      try {
        settle();
      } catch (...) {  // a destructor cannot report it
      }
    }
    core_->queue.cancel(work);
  }

  /// Waits for a started run; the data must not be accessed before.
  void settle() { core_->queue.wait(work); }
  bool ready() const { return core_->queue.ready(work); }
  /// Executes `work` in this thread.
  void run() { core_->queue.run(work); }
  /// Executes `work` in the background. Without MPI_THREAD_MULTIPLE there is no background.
  void start() {
    if (core_->ranks && !core_->ranks->any_thread())
      run();
    else
      core_->queue.submit(work);
  }
  /// Executes a step of a member function that may throw, with the same outcome on all ranks.
  template <typename Step>
  void collectively(std::string_view member, const Step& step) {
    if (core_->ranks)
      core_->ranks->collectively(member, number_, step);
    else
      step();
  }

  Work work;

 private:
  std::shared_ptr<DeviceCore> core_;
  unsigned number_ = 0;  ///< number from RankRunner::add_job
};

}  // namespace gdr
