#include "libgdr/cli/debug/expressions.hpp"

#include <algorithm>

#include "libgdr/cli/command.hpp"

namespace gdr::cli {
namespace {

constexpr std::string_view operators = "+-*/()";
constexpr unsigned max_depth = 100;

using Values = std::vector<long double>;

class Parser {
 public:
  Parser(std::string_view text, const ReadValues& read) : text_(text), read_(read) {}

  Values all() {
    Values value = sum();
    if (next() != '\0') refuse(fmt::format("'{}' is unexpected", text_.substr(at_)));
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw usage_error("'{}': {}", text_, why);
  }

  /// The next character that is no blank; 0 at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  template <typename Operation>
  Values combine(const Values& a, const Values& b, const Operation& operation) const {
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
      refuse(fmt::format("vectors of {} and {} elements cannot be combined", a.size(), b.size()));
    Values out(std::max(a.size(), b.size()));
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = operation(a[a.size() == 1 ? 0 : k], b[b.size() == 1 ? 0 : k]);
    return out;
  }

  Values sum() {
    Values value = product();
    for (;;) {
      if (take('+'))
        value = combine(value, product(), [](auto a, auto b) { return a + b; });
      else if (take('-'))
        value = combine(value, product(), [](auto a, auto b) { return a - b; });
      else
        return value;
    }
  }
  Values product() {
    Values value = factor();
    for (;;) {
      if (take('*'))
        value = combine(value, factor(), [](auto a, auto b) { return a * b; });
      else if (take('/'))
        value = combine(value, factor(), [](auto a, auto b) { return a / b; });
      else
        return value;
    }
  }
  Values factor() {
    if (++depth_ > max_depth) refuse("it is nested too deeply");
    Values value;
    if (take('-')) {
      value = factor();
      for (long double& v : value) v = -v;
    } else if (take('(')) {
      value = sum();
      if (!take(')')) refuse("a closing parenthesis is missing");
    } else {
      value = operand();
    }
    --depth_;
    return value;
  }
  Values operand() {
    next();
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != ' ' && !in_operators(first)) ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    if (word.empty()) refuse("a variable, a location or a number is missing");
    if (const auto number = parse_all<double>(word)) return {*number};
    return read_(word);
  }
  /// Whether the character is an operator; the sign of a decimal exponent is none.
  bool in_operators(std::size_t first) const {
    const char c = text_[at_];
    if (operators.find(c) == std::string_view::npos) return false;
    const bool in_number =
        first < at_ && (text_[first] == '.' || (text_[first] >= '0' && text_[first] <= '9'));
    return !(in_number && (c == '+' || c == '-') &&
             (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'));
  }

  std::string_view text_;
  const ReadValues& read_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

}  // namespace

bool has_operator(std::string_view word) noexcept {
  return word.find_first_of(operators) != std::string_view::npos;
}

std::vector<long double> evaluate(std::string_view text, const ReadValues& read) {
  return Parser(text, read).all();
}

}  // namespace gdr::cli
