// How a device that several processes share runs its jobs. libgdr/ranks implements it; a device of
// one process has none.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/ranks.hpp"

namespace gdr {

struct DeviceCore;
struct JobData;

class RankRunner {
 public:
  virtual ~RankRunner() = default;
  virtual unsigned rank() const noexcept = 0;
  virtual unsigned size() const noexcept = 0;
  /// The message-passing library: "Open MPI v4.1.4".
  virtual std::string library() const = 0;
  /// Whether runs may be started in a background thread.
  virtual bool any_thread() const noexcept = 0;

  /// Runs a job on all ranks; collective. Errors are the same on all of them.
  virtual void run(DeviceCore& device, JobData& job, const std::stop_token& stop) = 0;
  /// The number of a new job among those of this device: the same on all ranks.
  virtual unsigned add_job() = 0;
  /// Runs a step of a member function of Job on all ranks; throws on all if it throws on any, or if
  /// they do not make the same call.
  virtual void collectively(std::string_view member, unsigned job,
                            const std::function<void()>& step) = 0;
  /// The reports of all ranks; collective.
  virtual std::vector<RankReport> reports(DeviceCore& device) = 0;
  /// Device::shrink and Device::retry_on_rank_failure.
  virtual std::vector<unsigned> shrink(DeviceCore& device) = 0;
  virtual void retry_on_rank_failure(DeviceCore& device, const std::function<void()>& work) = 0;
};

}  // namespace gdr
