// Tokens of the kernel language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/front/messages.hpp"

namespace gdr::kc::front {

/// Symbols are named by their text; Dots is `..`.
enum class TokenKind : std::uint8_t {
  End,
  Bad,  ///< what is no part of the language, and was reported
  Word,
  Number,
  String,
  Plus,
  Minus,
  Star,
  Slash,
  Caret,
  Equals,
  PlusEquals,
  MinusEquals,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  EqualEqual,
  NotEqual,
  AndAnd,
  OrOr,
  Not,
  Question,
  Colon,
  Semicolon,
  Comma,
  Dots,
  ParenOpen,
  ParenClose,
  BracketOpen,
  BracketClose,
  BraceOpen,
  BraceClose,
};

/// A literal: an integer where it is written like one and fits, else a number.
struct Literal {
  bool integral = false;
  std::int64_t integer = 0;
  double number = 0;  ///< also of an integer
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool first_on_line = false;
  SourceRange where;
  std::string_view text;  ///< as in the source; of a string without its quotes
  Literal literal;        ///< of a Number
};

/// The tokens of a source text, the last one an End. What is no part of the
/// language is reported and becomes a Bad.
std::vector<Token> tokens_of(std::string_view text, std::uint32_t file, Messages& messages);

}  // namespace gdr::kc::front
