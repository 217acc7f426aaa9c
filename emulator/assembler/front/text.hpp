// Positions in source texts, logical lines, and the cursor on a line.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace gdr::assembly {

/// A range of characters in a source text.
struct SourceSpan {
  std::uint32_t source = 0;
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t offset = 0;  ///< first character, from the beginning of the text
  std::uint32_t length = 0;
};

/// Origin of a part of an expanded line: copied characters, or a replacement of `length` source
/// characters.
struct Segment {
  std::uint32_t at = 0;      ///< offset in the expanded line
  std::uint32_t source = 0;  ///< offset in the source text
  std::uint32_t length = 0;  ///< number of source characters
  bool copied = true;
};

/// A logical line from `begin` to `end`; *end is readable and is a line feed or zero. With an empty
/// `map` the line is in the source text at `offset`; otherwise it was expanded.
struct Line {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::uint32_t source = 0;
  std::uint32_t offset = 0;
  std::uint32_t number = 0;  ///< first physical line
  std::span<const Segment> map;

  std::string_view text() const noexcept { return {begin, static_cast<std::size_t>(end - begin)}; }
};

/// Characters of the current line that a message refers to.
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
/// Value of a hexadecimal digit; 16 for other characters.
constexpr unsigned hex_digit(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}
/// Whether a name, plain or quoted, may start with the character.
constexpr bool starts_name(char c) noexcept { return is_word(c) || c == '"'; }
constexpr bool is_blank(char c) noexcept {
  return (char_classes[static_cast<unsigned char>(c)] & char_blank) != 0;
}

/// A position in a line. *p is always readable, and not a word character at the end.
struct Cursor {
  const char* p = nullptr;
  const char* end = nullptr;

  explicit Cursor(const Line& line) noexcept : p(line.begin), end(line.end) {}
  Cursor(const char* begin, const char* stop) noexcept : p(begin), end(stop) {}

  bool done() const noexcept { return p >= end; }
  char peek() const noexcept { return *p; }

  /// Skip blanks, continued line ends, and a comment.
  void skip_spaces() noexcept {
    while (true) {
      while (is_blank(*p) && p < end) ++p;
      if (*p == '\\' && skip_continuation()) continue;
      if (*p == '#' || (*p == '/' && p + 1 < end && p[1] == '/')) p = end;
      return;
    }
  }
  /// The same, with commas as blanks.
  void skip() noexcept {
    skip_spaces();
    while (*p == ',' && p < end) {
      ++p;
      skip_spaces();
    }
  }
  /// The letters, digits and `_` at the cursor; may be empty.
  Span word() noexcept {
    const char* begin = p;
    while (is_word(*p)) ++p;
    return {begin, p};
  }
  /// A name at the cursor: a word, or a quoted one, which may be a reserved word. Empty if there is
  /// none.
  Span name() noexcept {
    if (*p != '"' || p >= end) return word();
    const char* open = p++;
    const Span inside = word();
    if (inside.begin != inside.end && accept('"')) return inside;
    p = open;
    return {open, open};
  }
  bool accept(char c) noexcept {
    if (p >= end || *p != c) return false;
    ++p;
    return true;
  }
  /// The text up to the next blank, separator or end, for messages.
  Span rest_of_word() const noexcept {
    const char* q = p;
    while (q < end && !is_blank(*q) && *q != ',' && *q != ';' && *q != '\n') ++q;
    if (q == p && q < end) ++q;
    return {p, q};
  }
  /// Skip an invalid operand that begins at `from`: up to a blank, comma or `;` outside
  /// parentheses.
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
  /// Skip to the next `;` or the end.
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

/// Reader of logical lines: from a source text, or from collected lines.
class LineReader {
 public:
  /// Lines of a source text, which must be zero-terminated.
  LineReader(std::string_view text, std::uint32_t source) : text_(text), source_(source) {}
  /// Lines collected earlier.
  explicit LineReader(std::span<const Line> lines) : lines_(lines), collected_(true) {}

  bool next(Line& line) {
    if (!collected_) return next_of_text(line);
    if (index_ >= lines_.size()) return false;
    line = lines_[index_++];
    return true;
  }

 private:
  bool next_of_text(Line& line);

  std::string_view text_;
  std::uint32_t source_ = 0;
  std::size_t offset_ = 0;
  std::uint32_t number_ = 1;
  std::span<const Line> lines_;
  std::size_t index_ = 0;
  bool collected_ = false;
};

/// Start of a comment, or the end of the text; `#` in strings is ignored.
const char* comment_start(const char* begin, const char* end) noexcept;

}  // namespace gdr::assembly
