// Numbers, constants and expressions.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/assembler/front/assembly.hpp"

namespace gdr::assembly {

/// A literal: the cursor stands on a digit, or on a point with a digit behind it.
bool parse_number(Assembly& a, Cursor& c, Value& value);

/// A number, a constant's name, something in parentheses, a function; with signs in front.
bool parse_primary(Assembly& a, Cursor& c, Value& value);

/// A whole expression, up to what cannot belong to one.
bool parse_expression(Assembly& a, Cursor& c, Value& value);

/// An expression whose value is an integer from `first` to `last`; `what` names it in messages.
std::optional<std::int64_t> parse_integer(Assembly& a, Cursor& c, std::int64_t first,
                                          std::int64_t last, const char* what,
                                          Code out_of_range = Code::DirectiveValue);
/// The same for a primary: what follows `@`, where blanks end it.
std::optional<std::int64_t> parse_small_integer(Assembly& a, Cursor& c, std::int64_t first,
                                                std::int64_t last, const char* what,
                                                Code out_of_range);

}  // namespace gdr::assembly
