// What stands behind a Job: its data, its place in the queue, and the device it runs on.
#pragma once

#include <memory>

#include "libgdr/device/core.hpp"

namespace gdr {

struct Job::Impl {
  Impl(std::shared_ptr<DeviceCore> device, const Kernel& k);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// Wait for what was started; only then may the data be touched.
  void settle() { core->queue.wait(work); }
  /// A step of a member function of Job that may fail, with the same outcome on all ranks.
  template <typename Step>
  void collectively(const char* member, const Step& step) {
    if (core->ranks)
      core->ranks->collectively(member, rank_job, step);
    else
      step();
  }
  void set(std::string_view name, double value);
  /// Check and bind the result arrays of a run.
  void bind(std::span<const NamedResult> results);

  /// pack(), with its time in the statistics.
  void pack_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                   std::vector<std::uint64_t>& words);

  std::shared_ptr<DeviceCore> core;
  JobData data;
  Work work;
  unsigned rank_job = 0;  ///< RankRunner::add_job
};

}  // namespace gdr
