// What commands print: standard output and standard error with failures noticed, JSON, a progress
// bar, short texts, and errors of usage.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "gdr/error.hpp"

namespace gdr::cli {

/// Thrown when the reader of standard output has closed it: the command ends without a message.
struct OutputClosed {};

/// Write to standard output; control characters are escaped where it is a terminal. Throws Error
/// (Io) when it cannot be written, OutputClosed when the reader has closed it.
void write_output(std::string_view text);
/// Write to a file, atomically, or to standard output if `path` is empty or "-". Throws Error (Io)
/// when it cannot be written.
void write_text(const std::string& path, const std::string& text);
/// Flush standard output, with the same errors. Done after every command.
void flush_output();

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  write_output(fmt::format(format, std::forward<Args>(args)...));
}

/// JSON whose members keep the order in which they were added.
using Json = nlohmann::ordered_json;
/// An object or a list as indented text.
std::string json_text(const Json& json);
void print_json(const Json& json);

/// How much is printed: --quiet (results, warnings and errors), neither, or --verbose.
enum class Verbosity { Quiet, Normal, Verbose };
void set_verbosity(Verbosity verbosity) noexcept;
bool is_quiet() noexcept;
bool is_verbose() noexcept;

/// Messages on standard error, with control characters escaped; they never fail. A note has no
/// prefix, and is not printed with --quiet.
void warn(std::string_view message);
void report_error(std::string_view message);
void note(std::string_view text);
/// A text on standard error that was asked for, also with --quiet.
void write_error_text(std::string_view text);
/// With --verbose: one line about a choice or a time on standard error, `gdr: WHAT: TEXT`.
void report_choice(std::string_view what, std::string_view text);
template <typename... Args>
void verbose(std::string_view what, fmt::format_string<Args...> format, Args&&... args) {
  if (is_verbose()) report_choice(what, fmt::format(format, std::forward<Args>(args)...));
}
/// Show rendered diagnostics, whose colours are escape sequences; text from files was escaped when
/// they were rendered.
void show_rendered(std::string_view text);

/// Suppress all output of this process (another rank writes the same), or enable it again.
void set_silent(bool silent) noexcept;

/// Whether standard error is a terminal that shows colours.
bool stderr_has_colour() noexcept;

/// Open files for closed standard streams, so that no later file gets their numbers; broken pipes
/// become errors instead of signals.
void prepare_standard_streams() noexcept;

/// "1 board", "2 boards".
std::string counted(std::integral auto n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// The share of a part; 0 of nothing.
inline double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Makes the lines of a report: a label, padded to `width` columns, and a formatted value.
struct ReportRow {
  std::size_t width;
  std::string_view indent = {};

  template <typename... Args>
  std::string operator()(std::string_view label, fmt::format_string<Args...> format,
                         Args&&... args) const {
    return fmt::format("{}{:<{}}{}\n", indent, label, width,
                       fmt::format(format, std::forward<Args>(args)...));
  }
};

/// An error of category Usage: `throw usage_error("--mode '{}': ...", text);`
template <typename... Args>
Error usage_error(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCategory::Usage, fmt::format(format, std::forward<Args>(args)...));
}

/// Draws `label [#####.....] 52 % 0:12 left` in place on standard error, at most ten times a
/// second, and only if that is a terminal with colours and not with --quiet; elsewhere a call costs
/// a clock reading. Erased at the end, also after an exception.
class Progress {
 public:
  /// total: the number of steps of the whole work (0: nothing is drawn).
  Progress(std::string label, double total, bool wanted = true);
  ~Progress() { clear(); }
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
