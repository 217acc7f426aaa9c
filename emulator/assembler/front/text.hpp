// Places in source texts, lines as the parsers see them, and the cursor that walks along one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace gdr::assembly {

/// A place in a source text, kept for messages about something declared earlier.
struct Place {
  std::uint32_t source = 0;
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t offset = 0;  ///< of the first character, from the beginning of the text
  std::uint32_t length = 0;
};

/// Part of an expanded line and where it came from: copied character by character, or put in whole
/// for `length` characters of the source.
struct Segment {
  std::uint32_t at = 0;      ///< offset in the expanded line
  std::uint32_t source = 0;  ///< offset in the source text
  std::uint32_t length = 0;  ///< characters of the source that it stands for
  bool copied = true;
};

/// One logical line: `begin` to `end`, where *end is readable and is a line feed or a zero. With an
/// empty `map` it lies in the source text at `offset`; else it was expanded.
struct Line {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::uint32_t source = 0;
  std::uint32_t offset = 0;
  std::uint32_t number = 0;  ///< of its first physical line
  std::span<const Segment> map;

  std::string_view text() const noexcept { return {begin, static_cast<std::size_t>(end - begin)}; }
};

/// Characters of the current line that a message is about.
struct Span {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::string_view text() const noexcept { return {begin, static_cast<std::size_t>(end - begin)}; }
};

enum CharClass : std::uint8_t { char_other = 0, char_word = 1, char_digit = 2, char_blank = 4 };

constexpr std::array<std::uint8_t, 256> make_char_classes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = char_word;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = char_word;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = char_word | char_digit;
  table['_'] = char_word;
  for (unsigned char c : {' ', '\t', '\r', '\f', '\v'}) table[c] = char_blank;
  return table;
}
inline constexpr std::array<std::uint8_t, 256> char_classes = make_char_classes();

constexpr bool is_word(char c) noexcept {
  return (char_classes[static_cast<unsigned char>(c)] & char_word) != 0;
}
constexpr bool is_digit(char c) noexcept {
  return (char_classes[static_cast<unsigned char>(c)] & char_digit) != 0;
}
/// Whether a name, plain or in quotes, may begin so.
constexpr bool begins_name(char c) noexcept { return is_word(c) || c == '"'; }
constexpr bool is_blank(char c) noexcept {
  return (char_classes[static_cast<unsigned char>(c)] & char_blank) != 0;
}

/// Walks along a line. *p is always readable, and never a word character at the end.
struct Cursor {
  const char* p = nullptr;
  const char* end = nullptr;

  explicit Cursor(const Line& line) noexcept : p(line.begin), end(line.end) {}
  Cursor(const char* begin, const char* stop) noexcept : p(begin), end(stop) {}

  bool done() const noexcept { return p >= end; }
  char peek() const noexcept { return *p; }

  /// Past blanks, continued line ends, and a comment if one begins here.
  void skip_spaces() noexcept {
    while (true) {
      while (is_blank(*p) && p < end) ++p;
      if (*p == '\\' && skip_continuation()) continue;
      if (*p == '#' || (*p == '/' && p + 1 < end && p[1] == '/')) p = end;
      return;
    }
  }
  /// The same, where commas count as blanks.
  void skip() noexcept {
    skip_spaces();
    while (*p == ',' && p < end) {
      ++p;
      skip_spaces();
    }
  }
  /// Letters, digits and `_` from here; empty if there are none.
  Span word() noexcept {
    const char* begin = p;
    while (is_word(*p)) ++p;
    return {begin, p};
  }
  /// A name as operands write it: a word, or one in quotes, which may be a word of the language.
  /// Empty if neither is here.
  Span name() noexcept {
    if (*p != '"' || p >= end) return word();
    const char* open = p++;
    const Span inside = word();
    if (inside.begin != inside.end && take('"')) return inside;
    p = open;
    return {open, open};
  }
  bool take(char c) noexcept {
    if (p >= end || *p != c) return false;
    ++p;
    return true;
  }
  /// From here to the next blank, separator or end: what a message about bad text points at.
  Span rest_of_word() const noexcept {
    const char* q = p;
    while (q < end && !is_blank(*q) && *q != ',' && *q != ';' && *q != '\n') ++q;
    if (q == p && q < end) ++q;
    return {p, q};
  }
  /// To the end of the bad operand that begins at `from`, so that what follows it can be read: a
  /// blank, comma or `;` outside of parentheses.
  void skip_operand(const char* from) noexcept {
    unsigned open = 0;
    const char* q = from;
    for (; q < end && *q != '\n' && *q != ';'; ++q) {
      if (open == 0 && (is_blank(*q) || *q == ',')) break;
      if (*q == '(') ++open;
      if (*q == ')' && open > 0) --open;
    }
    if (q > p) p = q;
  }
  /// To the next `;` or the end.
  void skip_operation() noexcept {
    for (skip(); !done() && *p != ';'; skip()) ++p;
  }

 private:
  bool skip_continuation() noexcept {
    const char* q = p + 1;
    while (q < end && is_blank(*q)) ++q;
    if (q >= end || *q != '\n') return false;
    p = q + 1;
    return true;
  }
};

}  // namespace gdr::assembly
