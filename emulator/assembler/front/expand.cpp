// Expansion of templates and of braces in words.
#include <algorithm>

#include "emulator/assembler/front/parser.hpp"

namespace gdr::assembly {
namespace {

/// A line under construction, with a map to its source characters.
class Builder {
 public:
  Builder(const Line& line, std::string& text, std::vector<Segment>& map) noexcept
      : line_(line), whole_{0, line.offset, 0, true}, text_(text), map_(map) {}

  void copy(const char* begin, const char* end) {
    if (begin == end) return;
    const std::uint32_t from = offset(begin), to = offset(end);
    const std::span<const Segment> segments = origin();
    for (std::size_t i = 0; i < segments.size(); ++i) {
      Segment s = segments[i];
      const std::uint32_t next = i + 1 < segments.size() ? segments[i + 1].at : to;
      if (next <= from || s.at >= to) continue;
      if (s.at < from) {
        if (s.copied) s.source += from - s.at;
        s.at = from;
      }
      s.at = s.at - from + static_cast<std::uint32_t>(text_.size());
      map_.push_back(s);
    }
    text_.append(begin, end);
  }
  /// Append `replacement` for the characters from `begin` to `end` of the line.
  void replace(const char* begin, const char* end, std::string_view replacement) {
    const std::uint32_t from = source_of(begin);
    const auto length = std::max<std::uint32_t>(source_of(end - 1) + 1, from + 1) - from;
    map_.push_back({static_cast<std::uint32_t>(text_.size()), from, length, false});
    text_.append(replacement);
  }

 private:
  std::uint32_t offset(const char* p) const noexcept {
    return static_cast<std::uint32_t>(p - line_.begin);
  }
  std::span<const Segment> origin() const noexcept {
    return line_.map.empty() ? std::span(&whole_, 1) : line_.map;
  }
  std::uint32_t source_of(const char* p) const noexcept {
    const std::uint32_t at = offset(p);
    const Segment* found = &origin().front();
    for (const Segment& s : origin()) {
      if (s.at <= at) found = &s;
    }
    return found->copied ? found->source + (at - found->at) : found->source;
  }

  const Line& line_;
  const Segment whole_;  ///< origin of a line that was not expanded before
  std::string& text_;
  std::vector<Segment>& map_;
};

std::size_t index_of(const std::vector<std::string>& list, std::string_view word) noexcept {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == word) return i;
  }
  return list.size();
}

std::string_view trimmed(const char* begin, const char* end) noexcept {
  while (begin < end && is_blank(*begin)) ++begin;
  while (end > begin && is_blank(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// The end of the `{...}` that begins at p, or null.
const char* closing_brace(const char* p, const char* end) noexcept {
  for (++p; p < end; ++p) {
    if (*p == '}') return p;
    if (*p == '{' || *p == '\n') return nullptr;
  }
  return nullptr;
}

/// A line of a template's body with arguments substituted for parameters.
void substitute(const Line& line, const Template& made, const std::vector<std::string>& arguments,
                std::string& text, std::vector<Segment>& map) {
  Builder build(line, text, map);
  const char* stop = comment_start(line.begin, line.end);
  const char* copied = line.begin;
  for (const char* p = line.begin; p < stop;) {
    if (*p == '{') {
      if (const char* close = closing_brace(p, stop)) {
        const std::size_t k = index_of(made.parameters, trimmed(p + 1, close));
        if (k < arguments.size()) {
          build.copy(copied, p);
          build.replace(p, close + 1, arguments[k]);
          copied = p = close + 1;
          continue;
        }
      }
    }
    const bool starts = is_word(*p) || *p == '$';
    if (!starts) {
      ++p;
      continue;
    }
    const char* begin = p++;
    while (p < stop && is_word(*p)) ++p;
    const bool behind_point = begin > line.begin && begin[-1] == '.';
    const std::size_t k =
        behind_point ? arguments.size()
                     : index_of(made.parameters, {begin, static_cast<std::size_t>(p - begin)});
    if (k >= arguments.size()) continue;
    build.copy(copied, begin);
    build.replace(begin, p, arguments[k]);
    copied = p;
  }
  build.copy(copied, stop);
}

/// `(a, b(1,2), c)`: texts separated by commas outside parentheses and brackets.
bool parse_arguments(Assembly& a, Cursor& c, std::vector<std::string>& arguments) {
  const char* open = c.p++;
  const char* begin = c.p;
  int depth = 0;
  for (; c.p < c.end && *c.p != '#'; ++c.p) {
    const char x = *c.p;
    if (x == '(' || x == '[') ++depth;
    const bool last = depth == 0 && x == ')';
    if (last || (depth == 0 && x == ',')) {
      const std::string_view text = trimmed(begin, c.p);
      const bool none = last && arguments.empty() && text.empty();
      if (!none) arguments.emplace_back(text);
      begin = c.p + 1;
    }
    if (last) {
      ++c.p;
      return true;
    }
    if (x == ')' || x == ']') --depth;
  }
  return a.report.error(Code::TemplateArguments, {open, open + 1}, "the parenthesis is not closed",
                        {}, "close the arguments with `)`");
}

struct Expanded {
  std::string text;
  std::vector<Segment> map;
};

}  // namespace

bool expand_braces(Assembly& a, const Line& line, std::string& text, std::vector<Segment>& map) {
  Builder build(line, text, map);
  const char* stop = comment_start(line.begin, line.end);
  const char* copied = line.begin;
  for (const char* p = line.begin; p < stop; ++p) {
    if (*p != '{') continue;
    const char* close = closing_brace(p, stop);
    if (close == nullptr) {
      return a.report.error(Code::BadBraces, {p, p + 1}, "the brace is not closed", {},
                            "write an integer expression in `{}`");
    }
    Cursor inner(p + 1, close);
    Value value;
    if (!parse_expression(a, inner, value)) return false;
    inner.skip_spaces();
    if (inner.p != close || value.real) {
      return a.report.error(Code::BadBraces, {p, close + 1}, "braces hold an integer expression",
                            value.real ? "this is a real number" : "text after the expression");
    }
    build.copy(copied, p);
    build.replace(p, close + 1, std::to_string(static_cast<long long>(value.integer)));
    copied = close + 1;
    p = close;
  }
  build.copy(copied, stop);
  return text.size() <= max_expanded_line ||
         a.report.error(
             Code::LineTooLong, {line.begin, line.begin + 1},
             "the line expands to more than " + std::to_string(max_expanded_line) + " characters");
}

void expand_template(Assembly& a, Cursor& c, Span word, const Name& name) {
  Template& made = a.templates[name.template_index];
  std::vector<std::string> arguments;
  if (!parse_arguments(a, c, arguments)) return;
  expect_end(a, c);
  if (arguments.size() != made.parameters.size()) {
    a.report.error(
        Code::TemplateArguments, word,
        in_quotes(name.name) + " takes " + std::to_string(made.parameters.size()) + " arguments",
        std::to_string(arguments.size()) + " given");
    a.report.note(name.declared, "defined here");
    return;
  }
  if (made.active) {
    a.report.error(Code::TemplateRecursion, word,
                   "the template " + in_quotes(name.name) + " uses itself");
    a.report.note(name.declared, "defined here");
    return;
  }
  const SourceSpan use = a.report.span_of(word);
  if (!check_nesting(a, use)) return;
  std::vector<Expanded> expanded(made.body.size());
  std::vector<Line> lines(made.body.size());
  for (std::size_t i = 0; i < made.body.size(); ++i) {
    Expanded& e = expanded[i];
    substitute(made.body[i], made, arguments, e.text, e.map);
    if (e.map.empty()) e.map.push_back({0, made.body[i].offset, 0, true});
    a.expanded_characters += e.text.size();
    if (e.text.size() > max_expanded_line) {
      a.report.error(Code::LineTooLong, word,
                     "a line of this template expands to more than " +
                         std::to_string(max_expanded_line) + " characters");
      return;
    }
    lines[i] = made.body[i];
    lines[i].begin = e.text.data();
    lines[i].end = e.text.data() + e.text.size();
    lines[i].map = e.map;
  }
  a.expanded_lines += lines.size() + 1;
  if (!check_expansion(a, word)) return;
  const Frame frame{a.report.frame, name.name, true, 0, use};
  made.active = true;
  ++a.depth;
  a.report.frame = &frame;
  LineReader reader{std::span<const Line>(lines)};
  parse_lines(a, reader);
  a.report.frame = frame.parent;
  --a.depth;
  made.active = false;
}

}  // namespace gdr::assembly
