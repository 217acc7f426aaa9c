// Standard output and standard error of the command, with failures noticed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace gdr::cli {

/// Thrown when the reader of standard output has gone away: the command ends without a word.
struct OutputClosed {};

/// Write to standard output; control characters are escaped where it is a terminal. Throws Error
/// (Io) when it cannot be written, OutputClosed when nobody reads it any more.
void write_output(std::string_view text);
/// Write to a file, which appears whole or not at all, or to standard output if `path` is empty or
/// "-". Throws Error (Io) when it cannot be written.
void write_text(const std::string& path, const std::string& text);
/// Write out what is buffered, with the same errors. main does it after every command.
void flush_output();

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  write_output(fmt::format(format, std::forward<Args>(args)...));
}

/// Messages for people, on standard error, with control characters escaped; never fail. A note has
/// no word before it.
void warn(std::string_view message);
void report_error(std::string_view message);
void note(std::string_view text);
/// Rendered diagnostics, in whose colours there are escape sequences; what came from files was
/// escaped when they were rendered.
void show_rendered(std::string_view text);

/// From now on nothing is written: another process says the same. Or (false) this one speaks again.
void silence(bool on = true) noexcept;

/// True where the stream is a terminal that shows colours and may be drawn upon.
bool stdout_is_terminal() noexcept;
bool stderr_is_terminal() noexcept;
bool stderr_has_colour() noexcept;

/// Closed standard streams are given a file of their own, so that no file that the command opens
/// later can take their place; broken pipes become errors instead of signals.
void prepare_standard_streams() noexcept;

}  // namespace gdr::cli
