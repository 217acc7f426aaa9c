#include "emulator/assembler/printable.hpp"

namespace gdr {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

/// Length of a valid UTF-8 sequence at `at`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = length > 1 ? byte_at(text, at + 1) : 0;
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::size_t visible_length(std::string_view text, std::size_t at) noexcept {
  const std::size_t length = utf8_length(text, at);
  const unsigned lead = byte_at(text, at);
  const bool c0 = length == 1 && (lead < ' ' || lead == 0x7f);
  // U+0080 to U+009F: some terminals take U+009B for ESC [.
  const bool c1 = length == 2 && lead == 0xc2 && byte_at(text, at + 1) < 0xa0;
  return c0 || c1 ? 0 : length;
}

std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool blank = text[at] == '\n' || text[at] == '\t';
    if (const std::size_t length = blank ? 1 : visible_length(text, at); length > 0) {
      out.append(text.substr(at, length));
      at += length;
      continue;
    }
    const unsigned byte = byte_at(text, at++);
    out += "\\x";
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

}  // namespace gdr
