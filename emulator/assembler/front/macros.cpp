#include "emulator/assembler/front/macros.hpp"

#include "emulator/assembler/front/expression.hpp"
#include "emulator/assembler/front/statement.hpp"

namespace gdr::assembly {
namespace {

/// The first word of a line, with a leading point.
std::string_view directive_of(const Line& line) noexcept {
  Cursor c(line);
  c.skip();
  if (c.done() || c.peek() != '.') return {};
  const char* begin = c.p++;
  c.word();
  return {begin, static_cast<std::size_t>(c.p - begin)};
}

/// Collect the lines of a block opened by `open`, up to the closing directive. False if there is
/// none.
bool collect_block(Assembly& a, LineReader& reader, std::string_view open, std::string_view close,
                   std::vector<Line>& body) {
  Line line;
  for (unsigned depth = 0; reader.next(line);) {
    const std::string_view directive = directive_of(line);
    if (directive == open) ++depth;
    if (directive == close && depth-- == 0) {
      Cursor c(line);
      c.skip();
      c.p += close.size();
      const Line* outer = a.report.line;
      a.report.line = &line;
      expect_end(a, c);
      a.report.line = outer;
      return true;
    }
    body.push_back(line);
  }
  return false;
}

struct RepeatHeader {
  Span name;
  std::int64_t first = 0, last = 0, step = 1;
};

bool parse_repeat_header(Assembly& a, Cursor& c, RepeatHeader& h) {
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  const auto bad = [&](const char* what) {
    a.report.error(Code::BadRepeat, c.rest_of_word(), what, {},
                   "write `.repeat k = 0, 3` or `.repeat k = 6, 0, -2`");
    return false;
  };
  c.skip_spaces();
  h.name = c.word();
  if (h.name.begin == h.name.end) return bad("the repeat needs a name for its constant");
  if (!check_new_name(a, h.name)) return false;
  c.skip_spaces();
  if (!c.accept('=')) return bad("`=` is expected after the constant of a repeat");
  const auto first = parse_integer(a, c, -limit, limit, "the first value", Code::BadRepeat);
  if (!first) return false;
  c.skip_spaces();
  if (!c.accept(',')) return bad("a repeat needs a first and a last value");
  const auto last = parse_integer(a, c, -limit, limit, "the last value", Code::BadRepeat);
  if (!last) return false;
  c.skip_spaces();
  if (c.accept(',')) {
    c.skip_spaces();
    const char* begin = c.p;
    const auto step = parse_integer(a, c, -limit, limit, "the step", Code::BadRepeat);
    if (!step) return false;
    if (*step == 0) {
      a.report.error(Code::BadRepeat, {begin, c.p}, "the step of a repeat cannot be zero");
      return false;
    }
    h.step = *step;
  }
  h.first = *first;
  h.last = *last;
  const std::size_t before = a.report.errors();
  expect_end(a, c);
  return a.report.errors() == before;
}

}  // namespace

bool check_expansion(Assembly& a, Span word) {
  if (a.expanded_lines <= a.options.max_expanded_lines &&
      a.expanded_characters <= max_expanded_characters)
    return true;
  if (!a.stopped) {
    a.report.error(
        Code::TooManyLines, word,
        "the text expands to more than " + std::to_string(a.options.max_expanded_lines) + " lines",
        "the limit is reached here", "shorten the repeats, or split the kernel");
  }
  a.stopped = true;
  return false;
}

bool check_nesting(Assembly& a, const SourceSpan& use) {
  if (a.depth < max_nesting) return true;
  a.report.error(Code::NestedTooDeeply, use,
                 "repeats, templates and includes are nested too deeply");
  return false;
}

void parse_lines(Assembly& a, LineReader& reader) {
  const Line* outer = a.report.line;
  Line line;
  while (!a.stopped && reader.next(line)) {
    a.report.line = &line;
    parse_statement(a, line, reader);
  }
  a.report.line = outer;
}

void parse_repeat(Assembly& a, Cursor& c, Span word, LineReader& reader) {
  RepeatHeader header;
  const bool good = parse_repeat_header(a, c, header);
  const SourceSpan use = a.report.span_of(word);
  const std::string constant(header.name.text());
  std::vector<Line> body;
  if (!collect_block(a, reader, ".repeat", ".endrepeat", body)) {
    a.report.error(Code::BlockNotClosed, use, "this `.repeat` is not closed", {},
                   "close it with `.endrepeat`");
    return;
  }
  if (!good) return;
  if (!check_nesting(a, use)) return;
  Name& name = a.names.add(constant);
  name.declared = use;
  Frame frame{a.report.frame, name.name, false, 0, use};
  ++a.depth;
  const auto inside = [&](std::int64_t k) {
    return header.step > 0 ? k <= header.last : k >= header.last;
  };
  for (std::int64_t k = header.first; inside(k) && !a.stopped; k += header.step) {
    name.kind = NameKind::Constant;
    name.value = integer_value(k);
    frame.value = k;
    a.expanded_lines += body.size() + 1;
    if (!check_expansion(a, word)) break;
    a.report.frame = &frame;
    LineReader lines{std::span<const Line>(body)};
    parse_lines(a, lines);
    a.report.frame = frame.parent;
  }
  --a.depth;
  name.kind = NameKind::None;
}

void parse_template(Assembly& a, Cursor& c, Span word, LineReader& reader) {
  const SourceSpan where = a.report.span_of(word);
  const bool nested = a.report.frame != nullptr;
  Template made;
  Span name;
  c.skip_spaces();
  bool good = parse_new_name(a, c, name, "the template");
  const std::string text(name.text());
  if (good && nested) {
    a.report.error(Code::BadTemplate, word, "a template cannot be defined inside another block", {},
                   "move it to the outermost level");
    good = false;
  }
  c.skip_spaces();
  if (good && !c.accept('(')) {
    a.report.error(Code::BadTemplate, c.rest_of_word(),
                   "the parameters in parentheses are expected", {},
                   "write `.template NAME(P, Q)`");
    good = false;
  }
  for (c.skip(); good && !c.accept(')'); c.skip()) {
    const Span parameter = c.word();
    if (parameter.begin == parameter.end || is_digit(*parameter.begin)) {
      a.report.error(Code::BadTemplate, c.rest_of_word(), "a parameter's name is expected", {},
                     "write `.template NAME(P, Q)`");
      good = false;
    }
    made.parameters.emplace_back(parameter.text());
  }
  if (good) expect_end(a, c);
  if (!collect_block(a, reader, ".template", ".endtemplate", made.body)) {
    a.report.error(Code::BlockNotClosed, where, "this `.template` is not closed", {},
                   "close it with `.endtemplate`");
    return;
  }
  if (!good) return;
  a.templates.push_back(std::move(made));
  Name& entry = a.names.add(text);
  entry.kind = NameKind::Template;
  entry.template_index = static_cast<std::uint32_t>(a.templates.size() - 1);
  entry.declared = where;
}

}  // namespace gdr::assembly
