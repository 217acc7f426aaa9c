// Standard streams: buffered writes whose failures become errors.
#include "libgdr/cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulator/assembler/printable.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

bool is_silent = false;

[[noreturn]] void output_failed(int code) {
  if (code == EPIPE) throw OutputClosed{};
  throw Error(ErrorCategory::Io,
              fmt::format("cannot write to standard output: {}", std::strerror(code)));
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

}  // namespace

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

void flush_output() {
  errno = 0;
  // After an earlier failed flush only the error flag remains.
  if (std::fflush(stdout) != 0) output_failed(errno);
  if (std::ferror(stdout) != 0) output_failed(EIO);
}

void warn(std::string_view message) { write_error_line("gdr: warning: ", message); }
void report_error(std::string_view message) { write_error_line("gdr: error: ", message); }
void note(std::string_view text) { write_error_line("", text); }
void show_rendered(std::string_view text) { write_error(text); }

bool stdout_is_terminal() noexcept { return isatty(STDOUT_FILENO) == 1; }

bool stderr_is_terminal() noexcept {
  const char* term = std::getenv("TERM");
  return !is_silent && isatty(STDERR_FILENO) == 1 &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

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

}  // namespace gdr::cli
