#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/assembler/front/number.hpp"
#include "emulator/assembler/front/report.hpp"
#include "emulator/assembler/front/text.hpp"
#include "emulator/host/parse_number.hpp"
#include "kernels/compiler/front/ast.hpp"

namespace gdr::kc::front {
namespace {

using assembly::hex_digit;
using assembly::in_quotes;
using assembly::is_blank;
using assembly::is_digit;
using assembly::is_word;

/// Longer ones first.
constexpr std::string_view symbols[] = {
    "+=", "-=", "*=", "<=", ">=", "==", "!=", "&&", "||", "..", "+", "-", "*", "/", "%", "^",
    "=",  "<",  ">",  "!",  "?",  ":",  ";",  ",",  "(",  ")",  "[", "]", "{", "}", ".",
};

/// Smallest normal number of the machine; it has no subnormal numbers.
constexpr double smallest = std::numeric_limits<double>::min();

/// The symbol at the beginning of the text, or nothing.
std::string_view symbol_at(std::string_view text) noexcept {
  const auto* found =
      std::ranges::find_if(symbols, [&](std::string_view s) { return text.starts_with(s); });
  return found == std::end(symbols) ? std::string_view{} : *found;
}

constexpr bool is_suffix(char c) noexcept {
  return std::string_view("fFlLuU").find(c) != std::string_view::npos;
}

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
  const auto value = parse_hexadecimal(text);
  if (!value) return "not a number";
  out.number = *value;
  return std::isfinite(out.number) ? nullptr : "too large";
}

class Lexer {
 public:
  Lexer(std::string_view text, std::uint32_t file, Messages& messages)
      : text_(text), file_(file), messages_(messages) {}

  std::vector<Token> run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = line_start_ = 3;
    while (skip_spaces(), at_ < text_.size()) one();
    // The End token is behind the last character, so that messages can point at it.
    const std::size_t end = text_.size();
    token(TokenKind::End, end, end).where.column_end += 1;
    return std::move(tokens_);
  }

 private:
  Message error(Code code, const SourceRange& where, std::string message) {
    return messages_.error(code, where, std::move(message));
  }

  char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  SourceRange range(std::size_t begin, std::size_t end) const noexcept {
    const auto column = static_cast<std::uint32_t>(begin - line_start_ + 1);
    return {file_, line_, column, column + static_cast<std::uint32_t>(end - begin)};
  }

  Token& token(TokenKind kind, std::size_t begin, std::size_t end) {
    Token& t = tokens_.emplace_back();
    t.kind = kind;
    t.first_on_line = fresh_line_;
    t.where = range(begin, end);
    t.text = text_.substr(begin, end - begin);
    fresh_line_ = false;
    at_ = end;
    return t;
  }

  void line_feed() noexcept {
    line_start_ = ++at_;
    ++line_;
    fresh_line_ = true;
  }

  void skip_spaces() {
    while (at_ < text_.size()) {
      if (peek() == '\n')
        line_feed();
      else if (is_blank(peek()))
        ++at_;
      else if (peek() == '/' && peek(1) == '/')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (peek() == '/' && peek(1) == '*')
        skip_comment();
      else
        return;
    }
  }

  void skip_comment() {
    const SourceRange begin = range(at_, at_ + 2);
    at_ += 2;
    while (at_ < text_.size()) {
      if (peek() == '*' && peek(1) == '/') {
        at_ += 2;
        return;
      }
      if (peek() == '\n')
        line_feed();
      else
        ++at_;
    }
    error(Code::CommentNotClosed, begin, "the comment is not closed").help("close it with `*/`");
  }

  void one() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_word(c)) {
      std::size_t end = at_;
      while (end < text_.size() && is_word(text_[end])) ++end;
      token(TokenKind::Word, at_, end);
      return;
    }
    if (c == '"') return string();
    const std::string_view symbol = symbol_at(text_.substr(at_));
    if (symbol.empty()) return unexpected();
    token(TokenKind::Symbol, at_, at_ + symbol.size());
  }

  /// Skip digits; returns their number.
  std::size_t digits(unsigned base) noexcept {
    const std::size_t begin = at_;
    while (hex_digit(peek()) < base) ++at_;
    return at_ - begin;
  }

  /// Skip a decimal point, but not the first character of a range `..`.
  bool point() noexcept {
    const bool there = peek() == '.' && peek(1) != '.';
    if (there) ++at_;
    return there;
  }

  /// Skip an exponent after `lower` or its capital, if present; false if it has no digits.
  bool exponent(char lower, bool& there) noexcept {
    there = (peek() | 0x20) == lower;
    if (!there) return true;
    ++at_;
    if (peek() == '-' || peek() == '+') ++at_;
    return digits(10) > 0;
  }

  const char* based_literal(unsigned base, Literal& out) {
    at_ += 2;
    const std::size_t begin = at_;
    std::size_t count = digits(base);
    const bool real = base == 16 && point();
    if (real) count += digits(16);
    if (count == 0) return "no digits after 0x or 0b";
    bool has_exponent = false;
    if (base == 16 && !exponent('p', has_exponent)) return "the exponent has no digits";
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (!real && !has_exponent) return integer_of(text, base, out);
    if (!has_exponent) return "a hexadecimal float needs an exponent, as in 0x1.8p0";
    return hex_float_of(text, out);
  }

  const char* decimal_literal(Literal& out) {
    const std::size_t begin = at_;
    digits(10);
    const bool real = point();
    if (real) digits(10);
    const std::string_view number = text_.substr(begin, at_ - begin);
    const std::size_t end = at_;
    bool has_exponent = false;
    if (!exponent('e', has_exponent)) return "the exponent has no digits";
    if (real || has_exponent) return decimal_of(number, text_.substr(end, at_ - end), out);
    if (number.size() > 1 && number.front() == '0') return integer_of(number.substr(1), 8, out);
    return number.size() > 18 ? decimal_of(number, {}, out) : integer_of(number, 10, out);
  }

  /// A literal with the syntax of C: decimal, octal, hexadecimal and binary integers; decimal and
  /// hexadecimal floats; a point at either end; the suffixes f F l L u U without effect. Rounded to
  /// double exactly once.
  void number() {
    const std::size_t begin = at_;
    const char second = static_cast<char>(peek(1) | 0x20);
    const bool based = peek() == '0' && (second == 'x' || second == 'b');
    Literal literal;
    const char* problem =
        based ? based_literal(second == 'x' ? 16 : 2, literal) : decimal_literal(literal);
    while (is_suffix(peek())) ++at_;
    if (problem == nullptr && is_word(peek())) problem = "letters in a number";
    while (is_word(peek())) ++at_;
    Token& t = token(TokenKind::Number, begin, at_);
    t.literal = literal;
    if (problem != nullptr) {
      t.kind = TokenKind::Bad;
      error(Code::BadNumber, t.where, in_quotes(t.text) + " is not a number")
          .label(problem)
          .help("use the syntax of C: 1.5e-3, .5, 0x1f, 0x1.8p-2");
    } else if (std::abs(literal.number) < smallest && literal.number != 0) {
      messages_.warning(Code::TooSmall, t.where, in_quotes(t.text) + " is too small")
          .label("below 2^-1022: it becomes 0")
          .help("write 0 if this is intended");
    }
  }

  void string() {
    const std::size_t begin = at_;
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') ++end;
    const bool closed = end < text_.size() && text_[end] == '"';
    Token& t = token(TokenKind::String, begin, closed ? end + 1 : end);
    if (closed) {
      t.text = text_.substr(begin + 1, end - begin - 1);
      return;
    }
    t.kind = TokenKind::Bad;
    error(Code::BadString, t.where, "the string is not closed").help("close it with `\"`");
  }

  /// One message for a sequence of unexpected characters.
  void unexpected() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '\n' && !is_blank(text_[end]) &&
           !is_word(text_[end]) && text_[end] != '"' && symbol_at(text_.substr(end)).empty())
      ++end;
    const Token& t = token(TokenKind::Bad, at_, end);
    const char* help = t.text == "%" || t.text == "#" || t.text == "&" || t.text == "|"
                           ? "comments begin with //; and, or and not are && || !"
                           : "";
    error(Code::UnexpectedCharacter, t.where, in_quotes(t.text) + " is not part of the language")
        .help(help);
  }

  std::string_view text_;
  std::uint32_t file_;
  Messages& messages_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  bool fresh_line_ = true;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text, std::uint32_t file, Messages& messages) {
  return Lexer(text, file, messages).run();
}

}  // namespace gdr::kc::front
