// Drawing the progress bar.
#include "libgdr/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "libgdr/cli/output.hpp"

namespace gdr::cli {
namespace {

constexpr std::chrono::milliseconds redraw_interval{100};
/// Shorter work shows no bar.
constexpr std::chrono::milliseconds first_drawing{500};

std::string clock_text(double seconds) {
  if (!(seconds >= 0) || seconds > 359999) return "-:--";
  const auto s = static_cast<long>(std::lround(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace

Progress::Progress(std::string label, double total, bool wanted)
    : label_(std::move(label)),
      total_(total),
      active_(wanted && total > 0 && stderr_is_terminal()) {}

Progress::~Progress() { clear(); }

void Progress::update(double done) {
  if (!active_) return;
  const Clock::time_point now = Clock::now();
  if (now - start_ < first_drawing || now - last_ < redraw_interval) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string text = fmt::format("\r{}\x1b[K", line(label_, done, total_, seconds));
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

std::string Progress::line(const std::string& label, double done, double total, double seconds,
                           std::size_t columns) {
  const double part = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0.0;
  const double left = part > 0 ? seconds * (1 - part) / part : -1;
  const std::string tail =
      fmt::format(" {:3.0f} % {} left", std::floor(part * 100), clock_text(left));
  const std::size_t around = label.size() + tail.size() + 3;
  const std::size_t width = columns > around + 10 ? columns - around : 10;
  const auto filled = static_cast<std::size_t>(std::floor(part * static_cast<double>(width)));
  return fmt::format("{} [{}{}]{}", label, std::string(filled, '#'),
                     std::string(width - filled, '.'), tail);
}

}  // namespace gdr::cli
