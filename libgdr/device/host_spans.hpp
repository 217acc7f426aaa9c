// What the host does for a device while its timeline is recorded.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "emulator/host/stopwatch.hpp"

namespace gdr {

/// Busy times of this process, in seconds of the steady clock. Threads may add at once.
class HostSpans {
 public:
  struct Span {
    const char* what = "";  ///< a literal
    double begin = 0, end = 0;
  };

  /// Starts a new record, or discards it and stops recording.
  void record(bool on) {
    const std::scoped_lock lock(mutex_);
    spans_.clear();
    begin_ = steady_seconds();
    on_.store(on, std::memory_order_relaxed);
  }
  bool recording() const noexcept { return on_.load(std::memory_order_relaxed); }
  void add(const char* what, double begin, double end) {
    if (!recording()) return;
    const std::scoped_lock lock(mutex_);
    spans_.push_back({what, begin, end});
  }
  std::vector<Span> spans() const {
    const std::scoped_lock lock(mutex_);
    return spans_;
  }
  /// Time at which the record began.
  double begin() const {
    const std::scoped_lock lock(mutex_);
    return begin_;
  }

 private:
  std::atomic<bool> on_ = false;
  mutable std::mutex mutex_;
  double begin_ = 0;
  std::vector<Span> spans_;
};

/// Adds its lifetime to a record, also after an error.
class HostSpan {
 public:
  HostSpan(HostSpans& spans, const char* what)
      : spans_(spans), what_(what), begin_(spans.recording() ? steady_seconds() : 0) {}
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;
  ~HostSpan() {
    if (begin_ != 0) spans_.add(what_, begin_, steady_seconds());
  }

 private:
  HostSpans& spans_;
  const char* what_;
  double begin_;
};

}  // namespace gdr
