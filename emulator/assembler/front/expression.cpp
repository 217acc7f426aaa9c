// Numbers, constants and expressions.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "emulator/assembler/front/parser.hpp"

namespace gdr::assembly {
namespace {

constexpr int max_expression_depth = 200;

struct Function {
  std::string_view name;
  unsigned arguments;
  long double (*compute)(long double, long double);
};
constexpr Function functions[] = {
    {"sqrt", 1, [](long double x, long double) { return std::sqrt(x); }},
    {"exp", 1, [](long double x, long double) { return std::exp(x); }},
    {"log", 1, [](long double x, long double) { return std::log(x); }},
    {"pow", 2, [](long double x, long double y) { return std::pow(x, y); }},
    {"abs", 1, [](long double x, long double) { return std::fabs(x); }},
    {"floor", 1, [](long double x, long double) { return std::floor(x); }},
};

/// Operators by precedence, lowest first.
struct Operator {
  char symbol;  ///< '<' and '>' denote shifts
  int level;
};
constexpr Operator operators[] = {{'|', 0}, {'^', 1}, {'&', 2}, {'<', 3}, {'>', 3},
                                  {'+', 4}, {'-', 4}, {'*', 5}, {'/', 5}, {'%', 5}};

/// The binary operator at the cursor, or null.
const Operator* operator_at(const Cursor& c) noexcept {
  if (c.done()) return nullptr;
  for (const Operator& op : operators) {
    if (op.symbol != c.peek()) continue;
    const bool shift = op.symbol == '<' || op.symbol == '>';
    if (shift && (c.p + 1 >= c.end || c.p[1] != op.symbol)) return nullptr;
    return &op;
  }
  return nullptr;
}

/// -x; the smallest integer is unchanged.
i128 negated(i128 x) noexcept { return static_cast<i128>(u128{0} - static_cast<u128>(x)); }

bool bad_number(Assembly& a, const char* begin, const Cursor& c, const char* why) {
  Cursor rest = c;
  while (is_word(*rest.p) || (*rest.p == '.' && rest.p < rest.end)) ++rest.p;
  const Span span{begin, rest.p};
  return a.report.error(Code::BadNumber, span, in_quotes(span.text()) + " is not a number", why,
                        "write a decimal like 1.5e-3, or 0x with hexadecimal digits");
}

bool parse_hex(Assembly& a, Cursor& c, Value& value) {
  const char* begin = c.p;
  c.p += 2;
  unsigned digits = 0;
  u128 bits = 0;
  for (unsigned digit = hex_digit(*c.p); digit < 16; digit = hex_digit(*++c.p)) {
    if (++digits > 31) return bad_number(a, begin, c, "more than 31 digits");
    bits = (bits << 4) | digit;
  }
  if (digits == 0) return bad_number(a, begin, c, "no digits after 0x");
  if (is_word(*c.p)) return bad_number(a, begin, c, "not a hexadecimal digit");
  value = integer_value(static_cast<i128>(bits));
  value.hex_digits = static_cast<std::uint8_t>(digits);
  return true;
}

class Evaluator {
 public:
  Evaluator(Assembly& a, Cursor& c) : a_(a), c_(c) {}

  bool binary(Value& left, int level) {
    if (level > 5) return unary(left);
    if (++depth_ > max_expression_depth) return too_deep();
    if (!binary(left, level + 1)) return false;
    while (true) {
      c_.skip_spaces();
      const Operator* op = operator_at(c_);
      if (op == nullptr || op->level != level) break;
      const char* at = c_.p;
      c_.p += level == 3 ? 2 : 1;
      Value right;
      if (!binary(right, level + 1)) return false;
      if (!apply(op->symbol, left, right, {at, at + 1})) return false;
    }
    --depth_;
    return true;
  }

  bool unary(Value& value) {
    c_.skip_spaces();
    const char* at = c_.p;
    const char sign = c_.done() ? '\0' : c_.peek();
    if (sign != '-' && sign != '+' && sign != '~') return primary(value);
    ++c_.p;
    if (++depth_ > max_expression_depth) return too_deep();
    if (!unary(value)) return false;
    --depth_;
    const char suffix = value.suffix;
    value.hex_digits = 0;
    value.suffix = 0;
    if (sign == '~') {
      if (value.real) return integer_needed({at, at + 1});
      value.integer = ~value.integer;
      return true;
    }
    value.suffix = suffix;  // -1.5s is a short
    if (sign == '+') return true;
    if (value.real) {
      value.binary.negative = !value.binary.negative;
    } else if (value.integer == 0 && suffix != 0) {
      value.real = true;  // -0s is negative zero
      value.binary = {true, 0, 0};
    } else {
      value.integer = negated(value.integer);
    }
    return true;
  }

  bool primary(Value& value) {
    c_.skip_spaces();
    const char first = c_.done() ? '\0' : c_.peek();
    if (is_digit(first) || (first == '.' && is_digit(c_.p[1]))) return parse_number(a_, c_, value);
    if (first == '(') return parenthesis(value);
    const Span word = c_.word();
    if (word.begin == word.end) {
      return a_.report.error(Code::ExpressionExpected, c_.rest_of_word(),
                             "a number is expected here");
    }
    if (!c_.done() && c_.peek() == '(') {
      const auto* const f = std::ranges::find(functions, word.text(), &Function::name);
      if (f != std::end(functions)) return call(*f, word, value);
    }
    return constant(word, value);
  }

 private:
  bool too_deep() {
    return a_.report.error(
        Code::ExpressionTooDeep, {c_.p, c_.p + 1},
        "the expression is nested more than " + std::to_string(max_expression_depth) + " deep", {},
        "define parts of it as constants");
  }
  bool integer_needed(Span at) {
    return a_.report.error(Code::IntegerNeeded, at, in_quotes(at.text()) + " requires integers",
                           "an operand is a real number");
  }
  bool out_of_range(Span at, const char* why) {
    return a_.report.error(Code::ExpressionRange, at, "the value of the expression is invalid",
                           why);
  }

  bool parenthesis(Value& value) {
    const char* open = c_.p++;
    if (!binary(value, 0)) return false;
    value.hex_digits = 0;
    c_.skip_spaces();
    if (c_.accept(')')) return true;
    return a_.report.error(Code::ExpressionExpected, {open, open + 1},
                           "the parenthesis is not closed", {}, "close it with `)`");
  }

  bool constant(Span word, Value& value) {
    const Name* name = a_.names.find(word.text());
    if (name != nullptr && name->kind == NameKind::Constant) {
      value = name->value;
      return true;
    }
    if (name != nullptr) {
      a_.report.error(Code::NotANumber, word, in_quotes(word.text()) + " is not a constant", {},
                      "expressions consist of numbers and `const` names");
      return a_.report.note(name->declared, "declared here");
    }
    Suggestion suggestion(word.text());
    suggest_names(a_, suggestion, {NameKind::Constant});
    for (const Function& f : functions) suggestion.consider(f.name);
    return a_.report.error(Code::NotANumber, word, in_quotes(word.text()) + " is not declared", {},
                           suggestion.help());
  }

  bool call(const Function& f, Span word, Value& value) {
    if (++depth_ > max_expression_depth) return too_deep();
    ++c_.p;
    std::array<Value, 2> argument;
    for (unsigned i = 0; i < f.arguments; ++i) {
      if (i > 0) {
        c_.skip_spaces();
        if (!c_.accept(',')) return wrong_arguments(f, word);
      }
      if (!binary(argument[i], 0)) return false;
    }
    c_.skip_spaces();
    if (!c_.accept(')')) return wrong_arguments(f, word);
    --depth_;
    if (f.name == "abs" && !argument[0].real) {
      const i128 x = argument[0].integer;
      value = integer_value(x < 0 ? negated(x) : x);
      return true;
    }
    const long double result = f.compute(argument[0].as_host(), argument[1].as_host());
    if (!std::isfinite(result)) return out_of_range(word, "infinite, or not a number");
    value = f.name == "floor" && std::fabs(result) < 0x1p100L
                ? integer_value(static_cast<i128>(result))
                : real_value(result);
    return true;
  }

  bool wrong_arguments(const Function& f, Span word) {
    return a_.report.error(Code::ExpressionExpected, word,
                           in_quotes(f.name) + " takes " +
                               (f.arguments == 1 ? "one argument" : "two arguments") +
                               " in parentheses");
  }

  bool apply(char op, Value& left, const Value& right, Span at) {
    if (left.real || right.real) return apply_real(op, left, right, at);
    const i128 x = left.integer;
    const i128 y = right.integer;
    i128 result = 0;
    bool overflow = false;
    switch (op) {
      case '+':
        overflow = __builtin_add_overflow(x, y, &result);
        break;
      case '-':
        overflow = __builtin_sub_overflow(x, y, &result);
        break;
      case '*':
        overflow = __builtin_mul_overflow(x, y, &result);
        break;
      case '&':
        result = x & y;
        break;
      case '|':
        result = x | y;
        break;
      case '^':
        result = x ^ y;
        break;
      case '<':
        if (y < 0 || y > 100) return out_of_range(at, "a shift count is 0 to 100");
        overflow = __builtin_mul_overflow(x, i128{1} << static_cast<int>(y), &result);
        break;
      case '>':
        if (y < 0 || y > 127) return out_of_range(at, "a shift count is 0 to 127");
        result = x >> static_cast<int>(y);
        break;
      default:
        if (y == 0) return out_of_range(at, "division by zero");
        if (op == '/' && y != -1 && x % y != 0) return apply_real(op, left, right, at);
        if (y == -1) {
          overflow = op == '/' && __builtin_sub_overflow(i128{0}, x, &result);
        } else {
          result = op == '/' ? x / y : x % y;
        }
    }
    if (overflow) return out_of_range(at, "an integer of more than 127 bits");
    left = integer_value(result);
    return true;
  }

  bool apply_real(char op, Value& left, const Value& right, Span at) {
    const long double x = left.as_host();
    const long double y = right.as_host();
    if (std::string_view("+-*/").find(op) == std::string_view::npos) return integer_needed(at);
    const long double result = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
    if (!std::isfinite(result)) return out_of_range(at, "infinite, or not a number");
    left = real_value(result);
    return true;
  }

  Assembly& a_;
  Cursor& c_;
  int depth_ = 0;
};

}  // namespace

bool parse_number(Assembly& a, Cursor& c, Value& value) {
  if (*c.p == '0' && (c.p[1] == 'x' || c.p[1] == 'X')) return parse_hex(a, c, value);
  const char* begin = c.p;
  std::uint64_t small = 0;
  while (is_digit(*c.p)) small = small * 10 + static_cast<unsigned>(*c.p++ - '0');
  bool real = false;
  // Two points denote a range; a letter after one begins a suffix.
  if (*c.p == '.' && c.p[1] != '.' &&
      (!is_word(c.p[1]) || is_digit(c.p[1]) || c.p[1] == 'e' || c.p[1] == 'E')) {
    real = true;
    ++c.p;
    while (is_digit(*c.p)) ++c.p;
  }
  const char* digits_end = c.p;
  std::int64_t exponent = 0;
  if (*c.p == 'e' || *c.p == 'E') {
    real = true;
    ++c.p;
    const bool negative = *c.p == '-';
    if (*c.p == '-' || *c.p == '+') ++c.p;
    if (!is_digit(*c.p)) return bad_number(a, begin, c, "the exponent has no digits");
    for (; is_digit(*c.p); ++c.p)
      exponent = std::min<std::int64_t>(exponent * 10 + (*c.p - '0'), 1 << 30);
    if (negative) exponent = -exponent;
  }
  value.hex_digits = 0;
  value.suffix = 0;
  if (*c.p == 's' || *c.p == 'l') value.suffix = *c.p++;
  if (is_word(*c.p)) return bad_number(a, begin, c, "letters in a number");
  const auto count = static_cast<std::size_t>(digits_end - begin);
  value.real = real;
  if (!real && count <= 18) {
    value.integer = static_cast<i128>(small);
    return true;
  }
  if (real) {
    value.binary = binary_from_decimal({begin, count}, exponent);
    return true;
  }
  i128 integer = 0;
  for (const char* p = begin; p < digits_end; ++p) {
    if (integer >= (i128{1} << 122))
      return bad_number(a, begin, c, "an integer of more than 36 digits");
    integer = integer * 10 + (*p - '0');
  }
  value.integer = integer;
  return true;
}

bool parse_primary(Assembly& a, Cursor& c, Value& value) { return Evaluator(a, c).unary(value); }

bool parse_expression(Assembly& a, Cursor& c, Value& value) {
  return Evaluator(a, c).binary(value, 0);
}

std::optional<std::int64_t> parse_integer(Assembly& a, Cursor& c, std::int64_t first,
                                          std::int64_t last, const char* what, Code out_of_range,
                                          bool (*parse)(Assembly& a, Cursor& c, Value& value)) {
  c.skip_spaces();
  const char* begin = c.p;
  Value value;
  if (!parse(a, c, value)) return std::nullopt;
  const Span span{begin, c.p};
  if (value.real) {
    a.report.error(Code::IntegerNeeded, span, std::string(what) + " must be an integer",
                   "this is a real number");
    return std::nullopt;
  }
  if (value.integer < first || value.integer > last) {
    a.report.error(out_of_range, span, std::string(what) + " is out of range",
                   last == std::numeric_limits<std::int64_t>::max()
                       ? "at least " + std::to_string(first)
                       : "from " + std::to_string(first) + " to " + std::to_string(last));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value.integer);
}

}  // namespace gdr::assembly
