// What stands behind a Job: its data, its place in the queue, and the device it runs on.
#pragma once

#include <memory>
#include <string>

#include "libgdr/device/core.hpp"
#include "libgdr/ranks/agree.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

struct Job::Impl {
  Impl(std::shared_ptr<DeviceCore> device, const Kernel& k);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  /// Wait for what was started; only then may the data be touched.
  void settle() { core->queue.wait(work); }
  /// Do something that may fail, on all ranks alike, as part of this member of Job.
  template <typename Work>
  void together(const char* member, const Work& body) {
    if (core->ranks)
      gdr::together(core->ranks->calls.get(), call(member), body);
    else
      body();
  }
  /// A call by the name that it has on all ranks.
  std::string call(const char* member) const;
  void set(std::string_view name, double value);
  /// Check and bind the result arrays of a run.
  void bind(std::span<const NamedResult> results);

  /// pack(), with its time in the statistics.
  void pack_in(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
               std::vector<std::uint64_t>& words);

  std::shared_ptr<DeviceCore> core;
  JobData data;
  Work work;
  unsigned of_ranks = 0;  ///< number among the jobs of a device of many ranks
};

}  // namespace gdr
