// Tokens of the kernel language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/front/messages.hpp"

namespace gdr::kc::front {

/// Symbols are named after their text; Dots is `..`.
enum class TokenKind : std::uint8_t {
  End,
  Bad,  ///< not part of the language, already reported
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

/// A literal: an integer if it is written as one and fits, else a float.
struct Literal {
  bool integral = false;
  std::int64_t integer = 0;
  double number = 0;  ///< also set for integers
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool first_on_line = false;
  SourceRange where;
  std::string_view text;  ///< source text; of a string without quotes
  Literal literal;        ///< value of a Number
};

/// The tokens of a source text, terminated by an End. Invalid text is reported and becomes a Bad
/// token.
std::vector<Token> tokens_of(std::string_view text, std::uint32_t file, Messages& messages);

}  // namespace gdr::kc::front
