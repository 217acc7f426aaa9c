// Numbers, constants and expressions.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/assembler/front/assembly.hpp"

namespace gdr::assembly {

/// A literal; the cursor is at a digit, or at a point followed by a digit.
bool parse_number(Assembly& a, Cursor& c, Value& value);

/// A number, constant, parenthesised expression or function call, with optional signs.
bool parse_primary(Assembly& a, Cursor& c, Value& value);

/// A complete expression.
bool parse_expression(Assembly& a, Cursor& c, Value& value);

/// An integer expression from `first` to `last`; `what` names it in messages.
std::optional<std::int64_t> parse_integer(Assembly& a, Cursor& c, std::int64_t first,
                                          std::int64_t last, const char* what,
                                          Code out_of_range = Code::DirectiveValue);
/// The same for a primary expression, as after `@`, where blanks terminate it.
std::optional<std::int64_t> parse_small_integer(Assembly& a, Cursor& c, std::int64_t first,
                                                std::int64_t last, const char* what,
                                                Code out_of_range);

}  // namespace gdr::assembly
