// Threads that compute sets, each with an emulated board of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "libgdr/device/core.hpp"
#include "libgdr/device/set_inputs.hpp"

namespace gdr {

/// A board of one thread, and a job on it.
struct SetWorker {
  SetWorker(DeviceCore& device, const Kernel& kernel);

  /// Runs the job on a set. The set's words are exchanged with the job's.
  void compute(PackedSet& set, const std::stop_token& stop);

  DeviceCore core;
  JobData job;
  SetPacker packer{job};
  PackedSet set = {};  ///< set of the worker's current task
};

class SetWorkers {
 public:
  SetWorkers(DeviceCore& device, const JobData& job) : device_(device), job_(job) {}

  /// Whether the sets of a call are worth separate boards: these are emulated with host numbers,
  /// whose results do not depend on the number of threads, and no thread is without a set.
  bool useful_for(std::size_t sets) const;

  /// Calls task(worker, number) for every set, in at most `threads` threads. Throws the error of
  /// the first set that fails, by number.
  void run(std::size_t sets, unsigned threads,
           const std::function<void(SetWorker&, std::size_t)>& task);

 private:
  void prepare(unsigned threads);
  void collect_statistics(double seconds);

  DeviceCore& device_;
  const JobData& job_;
  std::vector<std::unique_ptr<SetWorker>> workers_;
};

/// Runs a job on a set, on the boards of a device. The set's words are exchanged with the job's.
void run_set(DeviceCore& device, JobData& job, PackedSet& set, const std::stop_token& stop);

}  // namespace gdr
