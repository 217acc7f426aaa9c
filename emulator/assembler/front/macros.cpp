// Directives that read further lines: repeats, templates, includes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "emulator/assembler/front/files.hpp"
#include "emulator/assembler/front/parser.hpp"

namespace gdr::assembly {
namespace {

namespace fs = std::filesystem;

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
bool collect_block(Assembly& a, std::string_view open, std::string_view close,
                   std::vector<Line>& body) {
  Line line;
  for (unsigned depth = 0; a.reader->next(line);) {
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
    return a.report.error(Code::BadRepeat, c.rest_of_word(), what, {},
                          "write `.repeat k = 0, 3` or `.repeat k = 6, 0, -2`");
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
      return a.report.error(Code::BadRepeat, {begin, c.p}, "the step of a repeat cannot be zero");
    }
    h.step = *step;
  }
  h.first = *first;
  h.last = *last;
  const std::size_t before = a.report.errors();
  expect_end(a, c);
  return a.report.errors() == before;
}

bool bad_string(Assembly& a, const char* begin, const Cursor& c, const char* what,
                const char* help) {
  return a.report.error(Code::BadString, {begin, c.p}, what, {}, help);
}

/// An escape sequence; the cursor is after the `\`.
bool parse_escape(Cursor& c, std::string& text) {
  constexpr std::string_view letters = "nt\\\"", meanings = "\n\t\\\"";
  if (c.accept('x')) {
    const unsigned high = c.done() ? 16 : hex_digit(*c.p);
    const unsigned low = high > 15 || c.p + 1 >= c.end ? 16 : hex_digit(c.p[1]);
    if (low > 15) return false;
    c.p += 2;
    text += static_cast<char>(high * 16 + low);
    return true;
  }
  const std::size_t letter = c.done() ? std::string_view::npos : letters.find(*c.p++);
  if (letter == std::string_view::npos) return false;
  text += meanings[letter];
  return true;
}

/// Index of a source text, read if necessary. Nothing if it cannot be read.
std::optional<std::uint32_t> open_source(Assembly& a, const std::string& name) {
  for (std::uint32_t i = 0; i < a.sources.size(); ++i) {
    if (a.sources[i].name == name) return i;
  }
  std::optional<std::string> text = read_text(name);
  if (!text) return std::nullopt;
  return add_source(a, name, std::move(*text));
}

/// Reports an error that ends the assembly, and returns false, if there are too many includes:
/// files that each include the next one twice expand to 2^n includes.
bool may_include(Assembly& a, Span word) {
  if (++a.includes <= max_includes) return true;
  if (!a.stopped)
    a.report.error(Code::TooManyLines, word,
                   "more than " + std::to_string(max_includes) + " files are included", {},
                   "each include reads the file again: include a common file once, at the top");
  a.stopped = true;
  return false;
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
  return a.report.error(Code::NestedTooDeeply, use,
                        "repeats, templates and includes are nested too deeply");
}

void parse_repeat(Assembly& a, Cursor& c, Span word) {
  RepeatHeader header;
  const bool good = parse_repeat_header(a, c, header);
  const SourceSpan use = a.report.span_of(word);
  const std::string constant(header.name.text());
  std::vector<Line> body;
  if (!collect_block(a, ".repeat", ".endrepeat", body)) {
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

void parse_template(Assembly& a, Cursor& c, Span word) {
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
  if (!collect_block(a, ".template", ".endtemplate", made.body)) {
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

std::optional<std::string> read_text(const std::string& path) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 30;
  if (path.find('\0') != std::string::npos) return std::nullopt;
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type != fs::file_type::regular && type != fs::file_type::fifo) return std::nullopt;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::size_t size = 0, piece = 1U << 16;  // the size of a pipe is unknown
  if (const std::uintmax_t known = fs::file_size(path, error); !error && known > 0)
    piece = std::min(known, largest) + 1;
  while (size == text.size() && size <= largest) {
    text.resize(size + std::max(piece, size));
    size += std::fread(text.data() + size, 1, text.size() - size, file);
  }
  const bool failed = std::ferror(file) != 0 || size > largest;
  std::fclose(file);
  if (failed) return std::nullopt;
  text.resize(size);
  return text;
}

std::uint32_t add_source(Assembly& a, std::string name, std::string text) {
  a.sources.push_back({std::move(name), std::move(text)});
  return static_cast<std::uint32_t>(a.sources.size() - 1);
}

bool parse_string(Assembly& a, Cursor& c, std::string& text) {
  const char* begin = c.p;
  text.clear();
  if (!c.accept('"')) {
    return a.report.error(Code::BadString, c.rest_of_word(),
                          "a name in double quotes is expected here");
  }
  while (!c.accept('"')) {
    if (c.done() || *c.p == '\n')
      return bad_string(a, begin, c, "the string is not closed", "close it with `\"`");
    if (c.accept('\\')) {
      if (!parse_escape(c, text)) {
        return bad_string(a, begin, c, "unknown escape sequence",
                          "escape sequences are \\\\ \\\" \\n \\t and \\xHH");
      }
      continue;
    }
    text += *c.p++;
  }
  return true;
}

void parse_include(Assembly& a, Cursor& c, Span word) {
  c.skip_spaces();
  const char* begin = c.p;
  std::string name;
  if (!parse_string(a, c, name)) return;
  const Span span{begin, c.p};
  expect_end(a, c);
  if (!check_nesting(a, a.report.span_of(word))) return;
  if (!may_include(a, word)) return;
  const auto source =
      find_include(name, a.sources[a.report.line->source].name, a.options.include_dirs,
                   [&](const std::string& path) { return open_source(a, path); });
  if (!source) {
    a.report.error(Code::IncludeUnreadable, span, "the file " + in_quotes(name) + " cannot be read",
                   {}, "it is searched in this file's directory and the include directories (-I)");
    return;
  }
  for (const std::uint32_t open : a.open_files) {
    if (open != *source) continue;
    a.report.error(Code::IncludeCycle, span, in_quotes(name) + " includes itself",
                   "the file is already being read");
    return;
  }
  const std::string& text = a.sources[*source].text;
  a.expanded_characters += text.size() + 1;
  a.expanded_lines += 1;
  if (!check_expansion(a, word)) return;
  ++a.depth;
  a.open_files.push_back(*source);
  LineReader reader(text, *source);
  parse_lines(a, reader);
  a.open_files.pop_back();
  --a.depth;
}

}  // namespace gdr::assembly
