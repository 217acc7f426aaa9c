// Arithmetic on words: `mj*(xj - xi)`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::cli {

/// Values of a location by its text, one for each element.
using ReadValues = std::function<std::vector<long double>(std::string_view location)>;

/// Whether a word of a command line belongs to an expression with operators.
bool has_operator(std::string_view word) noexcept;

/// The value of an expression of locations, numbers, + - * / and parentheses: element by element,
/// where a single value goes with every element. Throws Error (Usage) for another text, and for
/// vectors of different lengths.
std::vector<long double> evaluate(std::string_view text, const ReadValues& read);

}  // namespace gdr::cli
