// The implementation of Job: its data, its queued work, and its device.
#pragma once

#include <memory>

#include "libgdr/device/core.hpp"

namespace gdr {

struct Job::Impl {
  Impl(std::shared_ptr<DeviceCore> device, const Kernel& k);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// Waits for a started run; the data must not be accessed before.
  void settle() { core->queue.wait(work); }
  /// Executes a step of a member function of Job that may throw, with the same outcome on all
  /// ranks.
  template <typename Step>
  void collectively(const char* member, const Step& step) {
    if (core->ranks)
      core->ranks->collectively(member, rank_job, step);
    else
      step();
  }
  void set(std::string_view name, double value);
  /// Checks and binds the result arrays of a run.
  void bind(std::span<const NamedResult> results);

  /// Calls pack() and adds its time to the statistics.
  void pack_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                   std::vector<std::uint64_t>& words);

  std::shared_ptr<DeviceCore> core;
  JobData data;
  Work work;
  unsigned rank_job = 0;  ///< number from RankRunner::add_job
};

}  // namespace gdr
