// How a section ran, for statistics.
#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>
#include <string>

namespace gdr::native {

/// Deviations from the request, and counts of runs. Thread-safe.
class SectionNotes {
 public:
  /// Replaces the remark.
  void set_remark(std::string remark);
  /// Sets the remark, if there is none.
  void add_remark(const std::string& remark);
  /// The remark with the number of runs in doubles; or empty.
  std::string remark() const;

  void count_run_in_doubles() noexcept { runs_in_doubles_.fetch_add(1, std::memory_order_relaxed); }
  void count_gpu_run() noexcept { gpu_runs_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t gpu_runs() const noexcept { return gpu_runs_.load(std::memory_order_relaxed); }

 private:
  mutable std::shared_mutex mutex_;
  std::string remark_;
  std::atomic<bool> has_remark_ = false;
  std::atomic<std::uint64_t> runs_in_doubles_ = 0, gpu_runs_ = 0;
};

}  // namespace gdr::native
