#include "kernels/compiler/front/literal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "emulator/assembler/front/number.hpp"
#include "emulator/assembler/front/text.hpp"

namespace gdr::kc::front {
namespace {

using assembly::hex_digit;
using assembly::is_digit;
using assembly::is_word;

constexpr bool is_suffix(char c) noexcept {
  return c == 'f' || c == 'F' || c == 'l' || c == 'L' || c == 'u' || c == 'U';
}

/// Scanner of a literal; reading past the end gives a zero.
struct Scan {
  std::string_view text;
  std::size_t at = 0;

  char peek(std::size_t ahead = 0) const noexcept {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  std::size_t digits(unsigned base) noexcept {
    const std::size_t begin = at;
    while (hex_digit(peek()) < base) ++at;
    return at - begin;
  }
  /// A decimal point, but not the first character of a range `..`.
  bool point() noexcept {
    if (peek() != '.' || peek(1) == '.') return false;
    ++at;
    return true;
  }
  /// An exponent after `lower` or its capital, if present; false if it has no digits.
  bool exponent(char lower, bool& there) noexcept {
    there = (peek() | 0x20) == lower;
    if (!there) return true;
    ++at;
    if (peek() == '-' || peek() == '+') ++at;
    return digits(10) > 0;
  }
};

/// Digits in a base as an integer, or as a float if they exceed it.
const char* integer_of(std::string_view digits, unsigned base, Literal& out) {
  std::uint64_t value = 0;
  out.integral = true;
  for (const char c : digits) {
    const unsigned digit = hex_digit(c);
    if (digit >= base) return "not a digit of its base";
    if (out.integral && value > (std::uint64_t{1} << 58)) {
      out.integral = false;
      out.number = static_cast<double>(value);
    }
    if (out.integral)
      value = value * base + digit;
    else
      out.number = out.number * base + digit;
  }
  if (!out.integral) return std::isfinite(out.number) ? nullptr : "too large";
  out.integer = static_cast<std::int64_t>(value);
  out.number = static_cast<double>(value);
  return nullptr;
}

const char* decimal_of(std::string_view digits, std::string_view exponent, Literal& out) {
  std::int64_t power = 0;
  const bool negative = exponent.find('-') != std::string_view::npos;
  for (const char c : exponent) {
    if (is_digit(c)) power = std::min<std::int64_t>(power * 10 + (c - '0'), 1 << 30);
  }
  const auto binary = assembly::binary_from_decimal(digits, negative ? -power : power);
  out.number = static_cast<double>(assembly::host_from_binary(binary));
  return std::isfinite(out.number) ? nullptr : "too large";
}

const char* hex_float_of(std::string_view text, Literal& out) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out.number, std::chars_format::hex);
  if (error == std::errc::result_out_of_range) {
    out.number = 0;
    return text.find('-') == std::string_view::npos ? "too large" : nullptr;
  }
  return error == std::errc{} && end == text.data() + text.size() ? nullptr : "not a number";
}

const char* scan_based(Scan& scan, unsigned base, Literal& out) {
  scan.at = 2;
  std::size_t count = scan.digits(base);
  const bool real = base == 16 && scan.point();
  if (real) count += scan.digits(16);
  if (count == 0) return "no digits after 0x or 0b";
  bool exponent = false;
  if (base == 16 && !scan.exponent('p', exponent)) return "the exponent has no digits";
  const std::string_view digits = scan.text.substr(2, scan.at - 2);
  if (!real && !exponent) return integer_of(digits, base, out);
  if (!exponent) return "a hexadecimal float needs an exponent, as in 0x1.8p0";
  return hex_float_of(digits, out);
}

const char* scan_decimal(Scan& scan, Literal& out) {
  scan.digits(10);
  const bool real = scan.point();
  if (real) scan.digits(10);
  const std::size_t digits_end = scan.at;
  bool exponent = false;
  if (!scan.exponent('e', exponent)) return "the exponent has no digits";
  const std::string_view digits = scan.text.substr(0, digits_end);
  if (real || exponent)
    return decimal_of(digits, scan.text.substr(digits_end, scan.at - digits_end), out);
  if (digits.size() > 1 && digits.front() == '0') return integer_of(digits.substr(1), 8, out);
  if (digits.size() > 18) return decimal_of(digits, {}, out);
  return integer_of(digits, 10, out);
}

}  // namespace

ScannedLiteral scan_literal(std::string_view text) {
  Scan scan{text};
  ScannedLiteral result;
  const char second = static_cast<char>(scan.peek(1) | 0x20);
  const bool based = scan.peek() == '0' && (second == 'x' || second == 'b');
  result.problem = based ? scan_based(scan, second == 'x' ? 16 : 2, result.literal)
                         : scan_decimal(scan, result.literal);
  while (is_suffix(scan.peek())) ++scan.at;
  if (is_word(scan.peek())) {
    while (is_word(scan.peek())) ++scan.at;
    if (result.problem == nullptr) result.problem = "letters in a number";
  }
  result.length = scan.at;
  return result;
}

}  // namespace gdr::kc::front
