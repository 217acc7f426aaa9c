// A progress bar on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace gdr::cli {

/// Draws `label [#####.....] 52 % 0:12 left` in place, at most ten times a second, and only where
/// standard error is a terminal; elsewhere a call costs a clock reading. Erased at the end, also
/// after an exception.
class Progress {
 public:
  /// total: the number of steps of the whole work (0: nothing is drawn).
  Progress(std::string label, double total, bool wanted = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Set the number of completed steps.
  void update(double done);
  /// Erase the bar, so that other lines can be printed; the next update draws it again.
  void clear();

  /// The line itself, for a terminal `columns` wide.
  static std::string line(const std::string& label, double done, double total, double seconds,
                          std::size_t columns = 72);

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  double total_;
  bool active_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace gdr::cli
