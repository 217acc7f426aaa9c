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
  /// `alone`: other ranks of the device do not make these calls.
  explicit QueuedCalls(std::shared_ptr<DeviceCore> core, bool alone = false)
      : core_(std::move(core)), ranks_(alone ? nullptr : core_->ranks.get()) {
    if (ranks_ != nullptr) number_ = ranks_->add_job();
  }
  QueuedCalls(const QueuedCalls&) = delete;
  QueuedCalls& operator=(const QueuedCalls&) = delete;
  ~QueuedCalls() {
    // Ranks that cancel at different points would deadlock.
    if (ranks_ != nullptr) {
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
    if (ranks_ != nullptr && !ranks_->any_thread())
      run();
    else
      core_->queue.submit(work);
  }
  /// Executes a step of a member function that may throw, with the same outcome on all ranks.
  template <typename Step>
  void collectively(std::string_view member, const Step& step) {
    if (ranks_ != nullptr)
      ranks_->collectively(member, number_, step);
    else
      step();
  }

  Work work;

 private:
  std::shared_ptr<DeviceCore> core_;
  RankRunner* ranks_;    ///< null: the calls of one process
  unsigned number_ = 0;  ///< number from RankRunner::add_job
};

}  // namespace gdr
