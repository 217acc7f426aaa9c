// `gdr fp`: any bytes give one result or message per line, independent of how the input is chunked.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.hpp"
#include "libgdr/cli/fp_lines.hpp"

namespace {

using fuzz::check;
using gdr::cli::FpLines;

/// A result is 9, 16 or 18 lower-case hex digits, a blank, and flags; converting it to its own
/// format gives the same digits without a flag.
void check_result(std::string_view line) {
  const auto blank = line.find(' ');
  check(blank == 9 || blank == 16 || blank == 18, "a result has 9, 16 or 18 digits");
  const auto word = line.substr(0, blank);
  check(word.find_first_not_of("0123456789abcdef") == word.npos, "a result is lower-case hex");
  const auto flags = line.substr(blank + 1);
  check(flags == "-" || flags == "i" || flags == "o" || flags == "u", "one operation, one flag");
  FpLines again;
  const char* operation = blank == 9 ? "cvt.s " : blank == 16 ? "cvt.d " : "cvt.l ";
  again.feed(std::string(operation) + std::string(word) + "\n");
  check(again.results == std::string(word) + " -\n", "a result is canonical");
}

void check_results(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    check(end != text.npos, "the last result ends its line");
    check_result(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  FpLines whole;
  whole.feed(text);
  whole.finish();
  const auto messages = std::count(whole.messages.begin(), whole.messages.end(), '\n');
  check(static_cast<std::size_t>(messages) == whole.bad_lines(), "a message for each bad line");
  const auto results = std::count(whole.results.begin(), whole.results.end(), '\n');
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  check(messages + results <= lines, "a line gives at most one result or message");
  check_results(whole.results);

  FpLines pieces;
  const std::size_t step = size == 0 ? 1 : 1 + data[0] % 7U;
  for (std::size_t at = 0; at < size; at += step) pieces.feed(text.substr(at, step));
  pieces.finish();
  check(pieces.results == whole.results, "pieces give the same results");
  check(pieces.messages == whole.messages, "pieces give the same messages");
  return 0;
}
