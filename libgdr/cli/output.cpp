// Standard streams: buffered writes whose failures become errors; the progress bar.
#include "libgdr/cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "emulator/assembler/printable.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

bool is_silent = false;
Verbosity wanted_verbosity = Verbosity::Normal;

[[noreturn]] void output_failed(int code) {
  if (code == EPIPE) throw OutputClosed{};
  throw Error(ErrorCategory::Io,
              fmt::format("cannot write to standard output: {}", std::strerror(code)));
}

bool stdout_is_terminal() noexcept { return isatty(STDOUT_FILENO) == 1; }

bool stderr_is_terminal() noexcept {
  const char* term = std::getenv("TERM");
  return !is_silent && isatty(STDERR_FILENO) == 1 &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

/// Failures of standard error are ignored.
void write_error(std::string_view text) {
  if (is_silent) return;
  std::fflush(stdout);  // keeps the order of both streams on a terminal
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void write_error_line(std::string_view prefix, std::string_view message) {
  std::string text = printable(message);
  text.insert(0, prefix);
  if (text.empty() || text.back() != '\n') text += '\n';
  write_error(text);
}

void write_all(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed(errno);
}

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

void set_verbosity(Verbosity verbosity) noexcept { wanted_verbosity = verbosity; }
bool is_quiet() noexcept { return wanted_verbosity == Verbosity::Quiet; }
bool is_verbose() noexcept { return wanted_verbosity == Verbosity::Verbose; }

void set_silent(bool silent) noexcept { is_silent = silent; }

void write_output(std::string_view text) {
  if (is_silent) return;
  // Files and pipes get every byte; on a terminal, names of kernels and files are escaped.
  if (stdout_is_terminal()) return write_all(printable(text));
  write_all(text);
}

void write_text(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-")
    write_output(text);
  else
    write_file_atomically(path, text);
}

std::string json_text(const Json& json) { return json.dump(2) + "\n"; }
void print_json(const Json& json) { write_output(json_text(json)); }

void flush_output() {
  errno = 0;
  // After an earlier failed flush only the error flag remains.
  if (std::fflush(stdout) != 0) output_failed(errno);
  if (std::ferror(stdout) != 0) output_failed(EIO);
}

void warn(std::string_view message) { write_error_line("gdr: warning: ", message); }
void report_error(std::string_view message) { write_error_line("gdr: error: ", message); }
void write_error_text(std::string_view text) { write_error_line("", text); }
void note(std::string_view text) {
  if (!is_quiet()) write_error_text(text);
}
void report_choice(std::string_view what, std::string_view text) {
  write_error_line(fmt::format("gdr: {}: ", what), text);
}
void show_rendered(std::string_view text) { write_error(text); }

bool stderr_has_colour() noexcept {
  const char* no_colour = std::getenv("NO_COLOR");
  return stderr_is_terminal() && (no_colour == nullptr || *no_colour == '\0');
}

void prepare_standard_streams() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  // A file beyond its size limit is a write error, after which the partial file is removed.
  std::signal(SIGXFSZ, SIG_IGN);
  // Opened in the wrong mode on purpose: reading a closed standard input and writing a closed
  // standard output still fail, but their numbers are taken.
  constexpr int wrong_mode[3] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream < 3; ++stream)
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", wrong_mode[stream]) != stream) return;
}

Progress::Progress(std::string label, double total, bool wanted)
    : label_(std::move(label)),
      total_(total),
      active_(wanted && !is_quiet() && total > 0 && stderr_has_colour()) {}

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
