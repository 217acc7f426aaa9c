// Lines of a source text: reading, keywords, directives, and the parser of each line.
#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include "emulator/assembler/flops_limit.hpp"
#include "emulator/assembler/front/parser.hpp"
#include "emulator/numeric/convert.hpp"

namespace gdr::assembly {
namespace {

/// Whether the physical line is continued: it ends with `\` outside a comment.
bool continues(const char* begin, const char* end) noexcept {
  const char* last = end;
  while (last > begin && is_blank(last[-1])) --last;
  if (last == begin || last[-1] != '\\') return false;
  return comment_start(begin, last) == last;
}

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
  const bool negative = number.negative && number.significand != 0;
  const double flops =
      number.significand == 0 ? 0 : std::bit_cast<double>(static_cast<std::uint64_t>(rounded.bits));
  if (rounded.error != RoundError::None || negative || flops > max_flops) {
    a.report.error(Code::DirectiveValue, {begin, c.p},
                   negative ? "the number of operations must be nonnegative"
                   : rounded.error == RoundError::TooSmall
                       ? "the number of operations is below 2^-1022"
                       : "the number of operations is above 1e15");
    return;
  }
  a.program.flops = flops;
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

void parse_unchecked(Assembly& a, Cursor&, Span word) {
  if (given_twice(a, word, a.unchecked)) return;
  const bool declared = !a.program.variables.empty() || !a.program.symbols.empty();
  if (declared || a.section >= 0) {
    a.report.error(Code::DirectiveLate, word, "`.unchecked` must precede declarations and sections",
                   {}, "move it directly after `.kernel`");
  }
  a.layout.local_taken.resize(max_field + 1);
}

template <Space space>
void parse_size(Assembly& a, Cursor& c, Span word) {
  BroadcastPart& part = a.layout.part(space);
  part.given_at = a.report.span_of(word);
  if (const auto n = parse_integer(a, c, 0, 65536, "a size in shorts")) part.given = *n;
}

void parse_file(Assembly& a, Cursor& c, Span) {
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

void parse_line_entry(Assembly& a, Cursor& c, Span) {
  a.tool_lines = true;
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto file =
      parse_integer(a, c, 0, most, "the number of a file", Code::DirectiveValue, parse_primary);
  if (!file) return;
  c.skip();
  const auto line =
      parse_integer(a, c, 0, most, "the number of a line", Code::DirectiveValue, parse_primary);
  if (!line) return;
  a.tool_line = {static_cast<std::uint32_t>(*file), static_cast<std::uint32_t>(*line)};
}

template <Section section>
void open_section(Assembly& a, Cursor&, Span) {
  a.section = static_cast<int>(section);
}

void parse_vlen(Assembly& a, Cursor& c, Span) {
  const auto n = parse_integer(a, c, 1, max_elements, "the vector length", Code::VlenRange);
  if (n) a.vlen = static_cast<unsigned>(*n);
}

void end_without_block(Assembly& a, Cursor&, Span word) {
  a.report.error(Code::EndWithoutBlock, word, in_quotes(word.text()) + " has no open block", {},
                 "there is no open `." + std::string(word.text().substr(4)) + "`");
}

constexpr Keyword directives[] = {
    {".kernel", nullptr, parse_kernel},
    {".flops", nullptr, parse_flops},
    {".elements", nullptr, parse_elements},
    {".group", nullptr, parse_group},
    {".init", nullptr, open_section<Section::Init>},
    {".start", nullptr, open_section<Section::Start>},
    {".body", nullptr, open_section<Section::Body>},
    {".end", nullptr, open_section<Section::End>},
    {"vlen", nullptr, parse_vlen},
    {"alias", nullptr, parse_alias},
    {"const", nullptr, parse_const},
    {".include", nullptr, parse_include},
    {".repeat", nullptr, parse_repeat},
    {".endrepeat", nullptr, end_without_block},
    {".template", nullptr, parse_template},
    {".endtemplate", nullptr, end_without_block},
    {".item", nullptr, parse_size<Space::BmSource>},
    {".output", nullptr, parse_size<Space::BmOutput>},
    {".fixed", nullptr, parse_size<Space::Bm>},
    {".symbol", nullptr, parse_symbol},
    {".array", nullptr, parse_array},
    {".host", nullptr, parse_host_name},
    {".cutoff", nullptr, parse_cutoff},
    {".file", nullptr, parse_file},
    {".line", nullptr, parse_line_entry},
    {".unchecked", nullptr, parse_unchecked},
};

/// Other words with a meaning in declarations.
constexpr std::string_view more_reserved[] = {"at", "pad", "long", "short", "pass"};

struct KeywordTable {
  std::vector<Keyword> all;
  std::unordered_map<std::string_view, const Keyword*> by_text;

  KeywordTable() {
    for (const OpInfo& op : instruction_table()) all.push_back({op.mnemonic, &op});
    all.insert(all.end(), std::begin(directives), std::end(directives));
    for (const VariableKind& kind : variable_kinds()) {
      all.push_back({kind.name, nullptr, nullptr, &kind});
    }
    for (const Keyword& keyword : all) by_text.emplace(keyword.text, &keyword);
  }
};

const KeywordTable& keyword_table() noexcept {
  static const KeywordTable table;
  return table;
}

Span first_word(Cursor& c) noexcept {
  const char* begin = c.p;
  if (*c.p == '.' && c.p < c.end) ++c.p;
  while (is_word(*c.p)) ++c.p;
  return {begin, c.p};
}

void unknown_statement(Assembly& a, Cursor& c, Span word) {
  if (word.begin == word.end) {
    const Span rest = c.rest_of_word();
    a.report.error(Code::UnexpectedCharacter, rest,
                   in_quotes(rest.text()) + " cannot begin a line");
    return;
  }
  Suggestion suggestion(word.text());
  for (const Keyword& k : keywords()) suggestion.consider(k.text);
  suggest_names(a, suggestion, {NameKind::Template});
  if (*word.begin == '.') {
    a.report.error(Code::UnknownDirective, word, "unknown directive " + in_quotes(word.text()), {},
                   suggestion.help());
    return;
  }
  std::string help = suggestion.help();
  if (const Name* name = a.names.find(word.text()); name != nullptr && help.empty()) {
    help = name->kind == NameKind::Template ? "a template is used as `" + name->name + "(...)`"
                                            : "the mnemonic precedes the destination";
  }
  a.report.error(Code::UnknownInstruction, word,
                 "unknown instruction or declaration " + in_quotes(word.text()), {},
                 std::move(help));
  skip_instruction(a);
}

void parse_plain(Assembly& a, const Line& line) {
  Cursor c(line);
  c.skip();
  if (c.done()) return;
  if (c.peek() == '[') return parse_instruction(a, c);
  Cursor start = c;
  const Span word = first_word(c);
  const Keyword* keyword = find_keyword(word.text());
  if (keyword == nullptr) {
    const Name* name = a.names.find(word.text());
    c.skip_spaces();
    if (name != nullptr && name->kind == NameKind::Template && !c.done() && c.peek() == '(') {
      return expand_template(a, c, word, *name);
    }
    return unknown_statement(a, c, word);
  }
  if (keyword->operation != nullptr) return parse_instruction(a, start);
  if (keyword->declaration != nullptr) return parse_declaration(a, c, *keyword->declaration);
  const std::size_t before = a.report.errors();
  keyword->directive(a, c, word);
  if (a.report.errors() == before) expect_end(a, c);
}

void parse_statement(Assembly& a, const Line& line) {
  if (line.text().find('{') == std::string_view::npos) return parse_plain(a, line);
  std::string text;
  std::vector<Segment> map;
  if (!expand_braces(a, line, text, map)) return skip_instruction(a);
  if (map.empty()) return;  // braces in a comment only
  a.expanded_characters += text.size();
  Line expanded = line;
  expanded.begin = text.data();
  expanded.end = text.data() + text.size();
  expanded.map = map;
  a.report.line = &expanded;
  parse_plain(a, expanded);
  a.report.line = &line;
}

}  // namespace

const char* comment_start(const char* begin, const char* end) noexcept {
  bool in_string = false;
  for (const char* p = begin; p < end; ++p) {
    if (in_string) {
      if (*p == '\\' && p + 1 < end)
        ++p;
      else if (*p == '"')
        in_string = false;
      continue;
    }
    if (*p == '"') in_string = true;
    if (*p == '#' || (*p == '/' && p + 1 < end && p[1] == '/')) return p;
  }
  return end;
}

bool LineReader::next_of_text(Line& line) {
  if (offset_ >= text_.size()) return false;
  const char* begin = text_.data() + offset_;
  const char* stop = text_.data() + text_.size();
  line.begin = begin;
  line.source = source_;
  line.offset = static_cast<std::uint32_t>(offset_);
  line.number = number_;
  line.map = {};
  const char* physical = begin;
  while (true) {
    const auto* feed = static_cast<const char*>(
        std::memchr(physical, '\n', static_cast<std::size_t>(stop - physical)));
    const char* end = feed == nullptr ? stop : feed;
    ++number_;
    if (feed == nullptr || !continues(physical, end) || feed + 1 == stop) {
      line.end = end;
      offset_ = static_cast<std::size_t>(end - text_.data()) + 1;
      return true;
    }
    physical = feed + 1;
  }
}

const Keyword* find_keyword(std::string_view text) noexcept {
  const auto& by_text = keyword_table().by_text;
  const auto found = by_text.find(text);
  return found == by_text.end() ? nullptr : found->second;
}

std::span<const Keyword> keywords() noexcept { return keyword_table().all; }

bool is_reserved(std::string_view word) noexcept {
  return find_keyword(word) != nullptr || find_conversion(word).has_value() ||
         std::ranges::find(more_reserved, word) != std::end(more_reserved);
}

void parse_lines(Assembly& a, LineReader& reader) {
  const Line* outer = a.report.line;
  LineReader* outer_reader = std::exchange(a.reader, &reader);
  Line line;
  while (!a.stopped && reader.next(line)) {
    a.report.line = &line;
    parse_statement(a, line);
  }
  a.report.line = outer;
  a.reader = outer_reader;
}

void suggest_names(const Assembly& a, Suggestion& suggestion,
                   std::initializer_list<NameKind> kinds) {
  if (!a.report.below_limit()) return;
  for (const Name& name : a.names.all()) {
    if (std::ranges::find(kinds, name.kind) != kinds.end()) suggestion.consider(name.name);
  }
}

void skip_instruction(Assembly& a) {
  if (a.section >= 0) a.clocks[static_cast<std::size_t>(a.section)].gap();
}

void expect_end(Assembly& a, Cursor& c) {
  c.skip_spaces();
  if (c.done()) return;
  const Span rest = c.rest_of_word();
  a.report.error(Code::TrailingText, rest, in_quotes(rest.text()) + " is not expected here");
}

bool check_new_name(Assembly& a, Span word, bool quoted) {
  if (!quoted && is_reserved(word.text())) {
    return a.report.error(Code::NameReserved, word,
                          in_quotes(word.text()) + " is a reserved word and cannot be a name", {},
                          "choose another name, or always write it in quotes");
  }
  const Name* old = a.names.find(word.text());
  if (old == nullptr) return true;
  a.report.error(Code::NameTaken, word,
                 "the name " + in_quotes(word.text()) + " is already declared");
  return a.report.note(old->declared, "first declared here");
}

bool parse_new_name(Assembly& a, Cursor& c, Span& word, const char* what) {
  const bool quoted = c.peek() == '"';
  word = c.name();
  if (word.begin != word.end && !is_digit(*word.begin)) return check_new_name(a, word, quoted);
  c.p = word.begin;
  return a.report.error(Code::NameExpected, c.rest_of_word(),
                        std::string(what) + " needs a name here", {},
                        "names are letters, digits and `_`, not starting with a digit");
}

}  // namespace gdr::assembly
