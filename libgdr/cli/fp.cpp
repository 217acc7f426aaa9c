// Large reads past the buffers of stdio: what one read brings is answered with one write.
#include "libgdr/cli/fp.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/assembler/printable.hpp"
#include "libgdr/cli/fp_lines.hpp"

namespace gdr::cli {
namespace {

/// Bytes read, 0 at the end of the input, -1 with errno set. Waits only while nothing is there.
ssize_t read_some(std::FILE* in, std::vector<char>& buffer) {
  ssize_t count = 0;
  do {
    count = ::read(::fileno(in), buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  return count;
}

/// Write and flush the text and clear it; false if it cannot be written.
bool pour(std::string& text, std::FILE* file) {
  if (text.empty()) return true;
  const bool good =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  text.clear();
  return good;
}

}  // namespace

int run_fp(std::FILE* in, std::FILE* out, std::FILE* err) {
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
    const bool written = pour(lines.results, out);
    const int reason = errno;
    lines.messages = printable(lines.messages);
    pour(lines.messages, err);
    if (!written) {
      std::fprintf(err, "gdr fp: cannot write the results: %s\n", std::strerror(reason));
      return 1;
    }
    if (count == 0) return lines.bad_lines() == 0 ? 0 : 1;
  }
}

}  // namespace gdr::cli
