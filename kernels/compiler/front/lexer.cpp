// The lexer: one pass over the text, with a symbol table.
#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/assembler/front/report.hpp"
#include "emulator/assembler/front/text.hpp"
#include "kernels/compiler/front/literal.hpp"
#include "kernels/compiler/front/token.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;
using assembly::is_blank;
using assembly::is_digit;
using assembly::is_word;

struct Symbol {
  std::string_view text;
  TokenKind kind;
};
/// Longer ones first.
constexpr Symbol symbols[] = {
    {"+=", TokenKind::PlusEquals},   {"-=", TokenKind::MinusEquals}, {"<=", TokenKind::LessEqual},
    {">=", TokenKind::GreaterEqual}, {"==", TokenKind::EqualEqual},  {"!=", TokenKind::NotEqual},
    {"&&", TokenKind::AndAnd},       {"||", TokenKind::OrOr},        {"..", TokenKind::Dots},
    {"+", TokenKind::Plus},          {"-", TokenKind::Minus},        {"*", TokenKind::Star},
    {"/", TokenKind::Slash},         {"^", TokenKind::Caret},        {"=", TokenKind::Equals},
    {"<", TokenKind::Less},          {">", TokenKind::Greater},      {"!", TokenKind::Not},
    {"?", TokenKind::Question},      {":", TokenKind::Colon},        {";", TokenKind::Semicolon},
    {",", TokenKind::Comma},         {"(", TokenKind::ParenOpen},    {")", TokenKind::ParenClose},
    {"[", TokenKind::BracketOpen},   {"]", TokenKind::BracketClose}, {"{", TokenKind::BraceOpen},
    {"}", TokenKind::BraceClose},
};

/// Smallest normal number of the machine; it has no subnormal numbers.
constexpr double smallest = std::numeric_limits<double>::min();

const Symbol* symbol_at(std::string_view text) noexcept {
  const auto* found = std::ranges::find_if(
      symbols, [&](const Symbol& s) { return text.substr(0, s.text.size()) == s.text; });
  return found == std::end(symbols) ? nullptr : found;
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
    messages_.error(Code::CommentNotClosed, begin, "the comment is not closed", {},
                    "close it with `*/`");
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
    if (const Symbol* s = symbol_at(text_.substr(at_))) {
      token(s->kind, at_, at_ + s->text.size());
      return;
    }
    unexpected();
  }

  void number() {
    const ScannedLiteral scanned = scan_literal(text_.substr(at_));
    Token& t = token(TokenKind::Number, at_, at_ + scanned.length);
    t.literal = scanned.literal;
    if (scanned.problem == nullptr) {
      if (std::abs(t.literal.number) < smallest && t.literal.number != 0)
        messages_.warning(Code::TooSmall, t.where, in_quotes(t.text) + " is too small",
                          "below 2^-1022: it becomes 0", "write 0 if this is intended");
      return;
    }
    t.kind = TokenKind::Bad;
    messages_.error(Code::BadNumber, t.where, in_quotes(t.text) + " is not a number",
                    scanned.problem, "use the syntax of C: 1.5e-3, .5, 0x1f, 0x1.8p-2");
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
    messages_.error(Code::BadString, t.where, "the string is not closed", {}, "close it with `\"`");
  }

  /// One message for a sequence of unexpected characters.
  void unexpected() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '\n' && !is_blank(text_[end]) &&
           !is_word(text_[end]) && text_[end] != '"' && symbol_at(text_.substr(end)) == nullptr)
      ++end;
    const Token& t = token(TokenKind::Bad, at_, end);
    const char* help = t.text == "%" || t.text == "#" || t.text == "&" || t.text == "|"
                           ? "comments begin with //; and, or and not are && || !"
                           : "";
    messages_.error(Code::UnexpectedCharacter, t.where,
                    in_quotes(t.text) + " is not part of the language", {}, help);
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
