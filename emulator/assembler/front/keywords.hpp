// Keywords: mnemonics of the instruction table, declarations, directives.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/isa/table.hpp"

namespace gdr::assembly {

enum class KeywordKind : std::uint8_t { Operation, Nop, Declaration, Directive };

/// Keywords that begin a line, except mnemonics and declarations.
enum class Directive : std::uint8_t {
  Kernel,
  Flops,
  Elements,
  Group,
  Init,
  Start,
  Body,
  End,
  Vlen,
  Alias,
  Const,
  Include,
  Repeat,
  EndRepeat,
  Template,
  EndTemplate,
  Item,
  Output,
  Fixed,
  Symbol,
  File,
  Line,
  Unchecked
};
enum class DeclarationKind : std::uint8_t { Ivar, Jvar, Fvar, Param, Ovar, Tmp, Bm };

struct Keyword {
  std::string_view text;
  KeywordKind kind = KeywordKind::Directive;
  const OpInfo* operation = nullptr;
  Directive directive = Directive::Kernel;
  DeclarationKind declaration = DeclarationKind::Ivar;
};

/// Null if the word is not a keyword. `text` includes a leading point.
const Keyword* find_keyword(std::string_view text) noexcept;

/// Whether a word is reserved: mnemonics, keywords, conversions and other words of declarations.
bool is_reserved(std::string_view word) noexcept;

/// All keywords, for suggestions.
std::span<const Keyword> keywords() noexcept;

}  // namespace gdr::assembly
