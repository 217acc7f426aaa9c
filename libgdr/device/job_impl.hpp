// What stands behind a Job: its data, its place in the queue, and the device it runs on.
#pragma once

#include <memory>

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
  /// Do something that may fail, on all ranks alike.
  template <typename Work>
  void together(const Work& body) {
    gdr::together(core->ranks ? core->ranks->calls.get() : nullptr, body);
  }
  void set(std::string_view name, double value);
  /// Check and bind the result arrays of a run.
  void bind(std::span<const NamedResult> results);

  /// pack(), with its time in the statistics.
  void pack_in(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
               std::vector<std::uint64_t>& words);

  std::shared_ptr<DeviceCore> core;
  JobData data;
  Work work;
};

}  // namespace gdr
