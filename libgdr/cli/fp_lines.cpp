// One table of operations, one parser for words of any width; the arithmetic is the emulator's.
#include "libgdr/cli/fp_lines.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "emulator/numeric/float.hpp"

namespace gdr::cli {
namespace {

constexpr std::size_t short_digits = 9;
constexpr std::size_t double_digits = 16;
constexpr std::size_t long_digits = 18;

struct Operation {
  std::string_view name;
  std::size_t operands;
  FloatWord (*apply)(Long a, Long b, Width out, Flags& flags);
};

FloatWord convert(Long a, Long /*none*/, Width out, Flags& flags) { return fcvt(a, out, flags); }

constexpr std::array operations{
    Operation{"fadd", 2, fadd},   Operation{"fsub", 2, fsub}, Operation{"fmul", 2, fmul},
    Operation{"dmul", 2, dmul},   Operation{"fmax", 2, fmax}, Operation{"fmin", 2, fmin},
    Operation{"cvt", 1, convert},
};

/// Error in a line; the message lacks the line number only.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A token for a message: quoted, shortened, control characters escaped.
std::string quoted(std::string_view token) {
  constexpr std::size_t shown = 40;
  std::string text = "'";
  for (const char c : token.substr(0, shown)) {
    if (c >= 0x20 && c < 0x7f) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + (token.size() > shown ? "...'" : "'");
}

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// The next run of characters that are not blanks, or nothing at the end of the line.
std::string_view next_token(std::string_view& rest) noexcept {
  std::size_t begin = 0;
  while (begin < rest.size() && is_blank(rest[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !is_blank(rest[end])) ++end;
  const auto token = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return token;
}

constexpr std::uint8_t no_digit = 255;

constexpr std::array<std::uint8_t, 256> hex_values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::uint8_t i = 0; i < 10; ++i) table[static_cast<std::size_t>('0' + i)] = i;
  for (std::uint8_t i = 10; i < 16; ++i) {
    table[static_cast<std::size_t>('a' + i - 10)] = i;
    table[static_cast<std::size_t>('A' + i - 10)] = i;
  }
  return table;
}();

/// The hex digits as an integer; false if one of them is none.
bool parse_hex(std::string_view digits, u128& value) noexcept {
  unsigned seen = 0;
  value = 0;
  for (const char c : digits) {
    const std::uint8_t digit = hex_values[static_cast<unsigned char>(c)];
    seen |= digit;
    value = (value << 4) | (digit & 15U);
  }
  return seen < 16;
}

/// A long or a short, by the number of digits; also a double if the operation takes one.
Long parse_operand(std::string_view token, bool takes_double) {
  u128 bits = 0;
  const bool known_size = token.size() == long_digits || token.size() == short_digits ||
                          (takes_double && token.size() == double_digits);
  if (!known_size) {
    throw BadLine(fmt::format("operand {} has {} characters; a long has 18 hex digits, a short 9{}",
                              quoted(token), token.size(),
                              takes_double ? ", a double 16" : " (and only cvt takes a double)"));
  }
  if (!parse_hex(token, bits)) {
    throw BadLine(fmt::format("operand {} has a character that is no hex digit", quoted(token)));
  }
  if (token.size() == long_digits) return {bits};
  if (token.size() == short_digits) return widen_float({static_cast<std::uint64_t>(bits)});
  return long_from_double(std::bit_cast<double>(static_cast<std::uint64_t>(bits)));
}

void append_hex(std::string& text, u128 value, std::size_t digits) {
  const std::size_t end = text.size() + digits;
  text.resize(end);
  for (std::size_t i = 1; i <= digits; ++i, value >>= 4) {
    text[end - i] = "0123456789abcdef"[static_cast<unsigned>(value & 15)];
  }
}

void append_flags(std::string& text, Flags flags) {
  if (flags == no_flags) text += '-';
  if ((flags & flag_invalid) != 0) text += 'i';
  if ((flags & flag_overflow) != 0) text += 'o';
  if ((flags & flag_underflow) != 0) text += 'u';
}

const Operation& find_operation(std::string_view name, std::string_view token) {
  for (const auto& operation : operations) {
    if (operation.name == name) return operation;
  }
  throw BadLine(
      fmt::format("{} is no operation; there are fadd, fsub, fmul, dmul, fmax, fmin and "
                  "cvt, each with .l or .s (cvt also with .d)",
                  quoted(token)));
}

/// Evaluate one line that is not blank and append its result.
void evaluate(std::string_view line, std::string& results) {
  const std::string_view token = next_token(line);
  const std::size_t dot = token.find('.');
  const Operation& operation = find_operation(token.substr(0, dot), token);
  const std::string_view format = dot == token.npos ? token.substr(0, 0) : token.substr(dot + 1);
  const bool converts = operation.operands == 1;
  if (format != "l" && format != "s" && !(converts && format == "d")) {
    throw BadLine(fmt::format("the format of {} is none of .l and .s{}", quoted(token),
                              converts ? " and .d" : ""));
  }
  std::array<Long, 2> operands{};
  for (std::size_t i = 0; i < operation.operands; ++i) {
    const std::string_view text = next_token(line);
    if (text.empty()) {
      throw BadLine(fmt::format("{} takes {} operand{}, here {} {}", operation.name,
                                operation.operands, converts ? "" : "s", i == 1 ? "is" : "are", i));
    }
    operands[i] = parse_operand(text, converts);
  }
  if (const auto extra = next_token(line); !extra.empty()) {
    throw BadLine(fmt::format("{} follows the last operand of {}", quoted(extra), operation.name));
  }
  Flags flags = no_flags;
  if (format == "d") {
    const double result = double_from_long(operands[0], flags);
    append_hex(results, std::bit_cast<std::uint64_t>(result), double_digits);
  } else if (format == "l") {
    append_hex(results, operation.apply(operands[0], operands[1], Width::Long, flags).bits,
               long_digits);
  } else {
    const FloatWord result = operation.apply(operands[0], operands[1], Width::Short, flags);
    append_hex(results, upper_half(result).bits, short_digits);
  }
  results += ' ';
  append_flags(results, flags);
  results += '\n';
}

}  // namespace

void FpLines::add_message(std::string_view what) {
  ++bad_lines_;
  messages += fmt::format("line {}: {}\n", number_, what);
}

void FpLines::end_line(std::string_view line) {
  ++number_;
  if (line.size() > max_line) {
    add_message(fmt::format("longer than {} characters", max_line));
    return;
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == line.npos) return;
  try {
    evaluate(line, results);
  } catch (const BadLine& bad) {
    add_message(bad.what());
  }
}

void FpLines::buffer(std::string_view part) {
  // One character beyond the limit suffices to detect a line that is too long.
  partial_ += part.substr(0, max_line + 1 - partial_.size());
}

void FpLines::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const void* found = std::memchr(bytes.data(), '\n', bytes.size());
    if (found == nullptr) return buffer(bytes);
    const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (partial_.empty()) {
      end_line(bytes.substr(0, length));
    } else {
      buffer(bytes.substr(0, length));
      end_line(partial_);
      partial_.clear();
    }
    bytes.remove_prefix(length + 1);
  }
}

void FpLines::finish() {
  if (partial_.empty()) return;
  end_line(partial_);
  partial_.clear();
}

}  // namespace gdr::cli
