// The progress of the work that a queue executes, for other threads that show it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gdr {

class RunProgress {
 public:
  /// The share of the running work that is done, 0 to 1; 0 if nothing runs. Thread-safe.
  double share() const noexcept {
    const double all = pairs();
    return all > 0 ? std::min(1.0, done_.load(std::memory_order_relaxed) / all) : 0;
  }
  /// Pairs of the running work; 0 if nothing runs. Thread-safe.
  double pairs() const noexcept { return all_.load(std::memory_order_relaxed); }
  /// How many works have begun. Thread-safe.
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  /// Notes that pairs have been computed. Thread-safe.
  void add(double pairs) noexcept { done_.fetch_add(pairs, std::memory_order_relaxed); }

 private:
  friend class ProgressScope;
  std::atomic<double> all_ = 0, done_ = 0;
  std::atomic<std::uint64_t> begun_ = 0;
};

/// Work of so many pairs, during its lifetime. One inside of another is a part of it.
class ProgressScope {
 public:
  ProgressScope(RunProgress& progress, double pairs) noexcept
      : progress_(progress), outer_(progress.pairs() == 0) {
    if (!outer_) return;
    progress_.done_.store(0, std::memory_order_relaxed);
    progress_.begun_.fetch_add(1, std::memory_order_relaxed);
    progress_.all_.store(pairs, std::memory_order_relaxed);
  }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;
  ~ProgressScope() {
    if (outer_) progress_.all_.store(0, std::memory_order_relaxed);
  }

 private:
  RunProgress& progress_;
  bool outer_;
};

}  // namespace gdr
