// `gdr fp`: exact arithmetic on lines of text. Reads large pieces past the buffers of stdio, and
// answers each piece with one write.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "emulator/assembler/printable.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/fp_lines.hpp"

namespace gdr::cli::fp_command {
namespace {

/// Bytes read, 0 at the end of the input, -1 with errno set. Waits only while there is no input.
ssize_t read_some(std::FILE* in, std::vector<char>& buffer) {
  ssize_t count = 0;
  do {
    count = ::read(::fileno(in), buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  return count;
}

/// Write and flush the text and clear it; false if it cannot be written.
bool write_and_clear(std::string& text, std::FILE* file) {
  if (text.empty()) return true;
  const bool good =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  text.clear();
  return good;
}

/// Evaluate lines from `in` until its end. Results leave as soon as no more input is available, so
/// that a program can hold a dialogue over pipes. Returns the exit status: 1 after a bad line, a
/// read error or a write error.
int run(std::FILE* in, std::FILE* out, std::FILE* err) {
  FpLines lines;
  std::vector<char> buffer(std::size_t{1} << 18);
  while (true) {
    const ssize_t count = read_some(in, buffer);
    if (count < 0) {
      std::fprintf(err, "gdr fp: cannot read the input: %s\n", std::strerror(errno));
      return 1;
    }
    if (count == 0) lines.finish();
    lines.feed({buffer.data(), static_cast<std::size_t>(count)});
    const bool written = write_and_clear(lines.results, out);
    const int reason = errno;
    lines.messages = printable(lines.messages);
    write_and_clear(lines.messages, err);
    if (!written) {
      std::fprintf(err, "gdr fp: cannot write the results: %s\n", std::strerror(reason));
      return 1;
    }
    if (count == 0) return lines.bad_lines() == 0 ? 0 : 1;
  }
}

Action prepare(CLI::App& /*app*/) {
  return [] { return run(stdin, stdout, stderr); };
}

const Registration registration{
    {.name = "fp",
     .summary = "evaluate lines of exact machine arithmetic from standard input",
     .example = "echo fmul.s 3ff800000 3ff800000 | gdr fp",
     .group = Group::Machine,
     .prepare = prepare,
     .details =
         "Each line is `op.F A [B]`: op is one of fadd fsub fmul dmul fmax fmin cvt, F the format\n"
         "of the result (l long, s short; d double, cvt only), A and B are hex words: 18 digits\n"
         "are a long, 9 a short, 16 a double (cvt only). Each line gives the result in hex, a\n"
         "blank, and the flags i (invalid), o (overflow), u (underflow) or `-` for none.\n"
         "A bad line gives a message with its number instead, and exit status 1 in the end."}};

}  // namespace
}  // namespace gdr::cli::fp_command
