// Standard output and standard error of the command, with failures noticed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

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

/// Messages on standard error, with control characters escaped; they never fail. A note has no
/// prefix.
void warn(std::string_view message);
void report_error(std::string_view message);
void note(std::string_view text);
/// Show rendered diagnostics, whose colours are escape sequences; text from files was escaped when
/// they were rendered.
void show_rendered(std::string_view text);

/// Suppress all output of this process (another rank writes the same), or enable it again.
void set_silent(bool silent) noexcept;

/// Whether the stream is a terminal, and whether it shows colours.
bool stdout_is_terminal() noexcept;
bool stderr_is_terminal() noexcept;
bool stderr_has_colour() noexcept;

/// Open files for closed standard streams, so that no later file gets their numbers; broken pipes
/// become errors instead of signals.
void prepare_standard_streams() noexcept;

}  // namespace gdr::cli
