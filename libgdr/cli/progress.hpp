// A progress bar on standard error, for long work in front of a person.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace gdr::cli {

/// Draws `label [#####.....] 52 % 0:12 left` in place, at most ten times a second, and only where
/// standard error is a terminal; it costs a clock reading a call elsewhere. Rubs itself out at the
/// end, also when an exception passes.
class Progress {
 public:
  /// total: the number of steps of the whole work (0: nothing is drawn).
  Progress(std::string label, double total, bool wanted = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Say how many steps are done by now.
  void update(double done);
  /// Rub the bar out, so that other lines can be printed; the next update draws it again.
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
