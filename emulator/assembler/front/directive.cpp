#include "emulator/assembler/front/directive.hpp"

#include <bit>
#include <limits>

#include "emulator/assembler/front/expression.hpp"
#include "emulator/assembler/front/macros.hpp"
#include "emulator/assembler/front/statement.hpp"

namespace gdr::assembly {
namespace {

/// Reports an error and returns true if a unique directive is repeated.
bool given_twice(Assembly& a, Span word, bool& given) {
  if (given) {
    a.report.error(Code::DirectiveTwice, word, in_quotes(word.text()) + " is given a second time",
                   {}, "remove one of them");
    return true;
  }
  given = true;
  return false;
}

void parse_kernel(Assembly& a, Cursor& c, Span word) {
  if (given_twice(a, word, a.kernel_given)) return;
  c.skip_spaces();
  if (c.peek() == '"') {
    parse_string(a, c, a.program.name);
    return;
  }
  const Span name = c.word();
  if (name.begin == name.end || is_digit(*name.begin)) {
    a.report.error(Code::NameExpected, c.rest_of_word(), "the kernel's name is expected here");
    return;
  }
  a.program.name = name.text();
}

void parse_flops(Assembly& a, Cursor& c, Span word) {
  if (given_twice(a, word, a.flops_given)) return;
  c.skip_spaces();
  const char* begin = c.p;
  Value value;
  if (!parse_expression(a, c, value)) return;
  const Binary number = value.as_binary();
  const Rounded rounded = round_binary(number, 52, 11);
  if (rounded.error != RoundError::None || (number.negative && number.significand != 0)) {
    a.report.error(Code::DirectiveValue, {begin, c.p},
                   "the number of operations must be nonnegative");
    return;
  }
  a.program.flops = std::bit_cast<double>(static_cast<std::uint64_t>(rounded.bits));
}

void parse_elements(Assembly& a, Cursor& c, Span word) {
  if (given_twice(a, word, a.elements_given)) return;
  if (a.layout.elements_used) {
    a.report.error(Code::DirectiveLate, word,
                   "`.elements` must precede variables that depend on it", {},
                   "move it before the first ivar, fvar or tmp");
    return;
  }
  if (const auto n = parse_integer(a, c, 1, max_elements, "the number of elements")) {
    a.program.elements = static_cast<std::uint32_t>(*n);
  }
}

void parse_group(Assembly& a, Cursor& c, Span word) {
  if (given_twice(a, word, a.group_given)) return;
  a.group_span = a.report.span_of(word);
  if (const auto n = parse_integer(a, c, 1, 4096, "the number of items in a group")) {
    a.program.group = static_cast<std::uint32_t>(*n);
  }
}

void parse_unchecked(Assembly& a, Span word) {
  if (given_twice(a, word, a.unchecked)) return;
  const bool declared = !a.program.variables.empty() || !a.program.symbols.empty();
  if (declared || a.section >= 0) {
    a.report.error(Code::DirectiveLate, word, "`.unchecked` must precede declarations and sections",
                   {}, "move it directly after `.kernel`");
  }
  a.layout.local_taken.resize(max_field + 1);
}

void parse_size(Assembly& a, Cursor& c, Span word, Assembly::GivenSize& given) {
  given.span = a.report.span_of(word);
  if (const auto n = parse_integer(a, c, 0, 65536, "a size in shorts")) given.shorts = *n;
}

void parse_file(Assembly& a, Cursor& c) {
  a.tool_lines = true;
  const auto n = parse_integer(a, c, 0, 65535, "the number of a file");
  if (!n) return;
  c.skip();
  std::string name;
  if (!parse_string(a, c, name)) return;
  const auto index = static_cast<std::size_t>(*n);
  if (a.tool_files.size() <= index) a.tool_files.resize(index + 1);
  a.tool_files[index] = std::move(name);
}

void parse_line_entry(Assembly& a, Cursor& c) {
  a.tool_lines = true;
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto file =
      parse_small_integer(a, c, 0, most, "the number of a file", Code::DirectiveValue);
  if (!file) return;
  c.skip();
  const auto line =
      parse_small_integer(a, c, 0, most, "the number of a line", Code::DirectiveValue);
  if (!line) return;
  a.tool_line = {static_cast<std::uint32_t>(*file), static_cast<std::uint32_t>(*line)};
}

void parse_vlen(Assembly& a, Cursor& c) {
  const auto n = parse_integer(a, c, 1, max_elements, "the vector length", Code::VlenRange);
  if (n) a.vlen = static_cast<unsigned>(*n);
}

}  // namespace

void parse_directive(Assembly& a, Cursor& c, Directive directive, Span word) {
  const std::size_t before = a.report.errors();
  switch (directive) {
    case Directive::Kernel:
      parse_kernel(a, c, word);
      break;
    case Directive::Flops:
      parse_flops(a, c, word);
      break;
    case Directive::Elements:
      parse_elements(a, c, word);
      break;
    case Directive::Group:
      parse_group(a, c, word);
      break;
    case Directive::Init:
      a.section = static_cast<int>(Section::Init);
      break;
    case Directive::Start:
      a.section = static_cast<int>(Section::Start);
      break;
    case Directive::Body:
      a.section = static_cast<int>(Section::Body);
      break;
    case Directive::End:
      a.section = static_cast<int>(Section::End);
      break;
    case Directive::Vlen:
      parse_vlen(a, c);
      break;
    case Directive::Item:
      parse_size(a, c, word, a.item_given);
      break;
    case Directive::Output:
      parse_size(a, c, word, a.output_given);
      break;
    case Directive::Fixed:
      parse_size(a, c, word, a.fixed_given);
      break;
    case Directive::Unchecked:
      parse_unchecked(a, word);
      break;
    case Directive::File:
      parse_file(a, c);
      break;
    case Directive::Line:
      parse_line_entry(a, c);
      break;
    default:
      break;
  }
  if (a.report.errors() == before) expect_end(a, c);
}

}  // namespace gdr::assembly
