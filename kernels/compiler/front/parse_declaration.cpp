// Declarations in both forms, typed temporaries, functions and includes.
#include <algorithm>
#include <filesystem>

#include "emulator/assembler/front/files.hpp"
#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {
namespace {

template <class T>
struct Keyword {
  std::string_view text;
  T meaning;
};
constexpr Keyword<VarKind> declaration_words[] = {{"CONST", VarKind::Param},
                                                  {"VARI", VarKind::Target},
                                                  {"VARJ", VarKind::Source},
                                                  {"VARF", VarKind::Result}};
constexpr Keyword<Type> number_words[] = {
    {"long", Type::Long}, {"short", Type::Short}, {"int", Type::Int}, {"bool", Type::Bool}};
constexpr Keyword<Shape> shape_words[] = {{info(Shape::Plane).name, Shape::Plane},
                                          {info(Shape::Vector).name, Shape::Vector},
                                          {info(Shape::Tensor).name, Shape::Tensor},
                                          {info(Shape::Complex).name, Shape::Complex}};

template <class T, std::size_t count>
std::optional<T> meaning(const Keyword<T> (&words)[count], const Token& t) noexcept {
  const auto* found = std::ranges::find(words, t.text, &Keyword<T>::text);
  const bool known = t.kind == TokenKind::Word && found != std::end(words);
  return known ? std::optional(found->meaning) : std::nullopt;
}

}  // namespace

/// `VARI`, or `/VARI`. These four words are the only reserved ones.
bool Parser::starts_declaration() const {
  return meaning(declaration_words, peek(at("/") ? 1 : 0)).has_value();
}

/// A type before a name. Elsewhere the words are ordinary names.
bool Parser::starts_local() const {
  const bool is_type = meaning(number_words, peek()) || meaning(shape_words, peek());
  return is_type && at(TokenKind::Word, 1);
}

/// The types before a name: `long`, `vec3` or `long vec3`.
DeclaredType Parser::type_words() {
  DeclaredType declared;
  bool shape_given = false;
  while (at(TokenKind::Word, 1)) {
    const std::optional<Type> type = meaning(number_words, peek());
    const std::optional<Shape> shape = meaning(shape_words, peek());
    if (type && !declared.type)
      declared.type = type;
    else if (shape && !shape_given)
      declared.shape = *shape, shape_given = true;
    else
      break;
    advance();
  }
  return declared;
}

std::optional<Statement> Parser::declaration() {
  Statement s = make(StatementKind::Declare);
  const bool slash = accept("/");
  s.where = joined(s.where, peek().where);
  s.variable_kind = *meaning(declaration_words, advance());
  while (at(TokenKind::Word, 1) && !(slash && peek(1).first_on_line)) {
    const std::optional<Type> type = meaning(number_words, peek());
    const std::optional<Shape> shape = meaning(shape_words, peek());
    if (at("table") && !s.table)
      s.table = true;
    else if (at("list") && !s.list)
      s.list = true;
    else if (type && !s.type)
      s.type = type;
    else if (shape && s.shape == Shape::Scalar)
      s.shape = *shape;
    else
      break;
    advance();
  }
  // The names read so far are declared.
  if (!items(s, slash, true) || !quantity(s, slash)) return skip_statement(), s;
  if (slash && (peek().first_on_line || at(TokenKind::End))) return s;
  if (!accept(";") && !end_statement()) skip_statement();
  return s;
}

std::optional<Statement> Parser::local() {
  Statement s = make(StatementKind::Local);
  const DeclaredType declared = type_words();
  s.type = declared.type;
  s.shape = declared.shape;
  if (!items(s, false, false) && s.items.empty()) return std::nullopt;
  return s;
}

/// A name in a declaration, which has no component.
std::optional<LValue> Parser::declared_name() {
  auto name = lvalue();
  if (!name || name->component.empty()) return name;
  fail(Code::NameExpected, name->where, "a component cannot be declared",
       "declare the whole: `vec3 " + std::string(name->name) + ";`");
  return std::nullopt;
}

/// Names with sizes and values, separated by commas. In the slash form a line end terminates them.
bool Parser::items(Statement& s, bool until_line_end, bool commas_may_miss) {
  while (true) {
    auto declared = declared_name();
    if (!declared) return false;
    DeclaredItem item{std::move(*declared)};
    const bool goes_on = !until_line_end || !peek().first_on_line;
    if (goes_on && accept("=")) item.value = expression();
    s.items.push_back(std::move(item));
    if (failed_) return false;
    if (accept(",")) continue;
    const bool comma_missing = commas_may_miss && at(TokenKind::Word) && !at("as") &&
                               !peek().first_on_line && !starts_declaration();
    if (!comma_missing) return true;
    fail(Code::SymbolExpected, peek().where, "`,` is expected here, between two names");
    failed_ = false;  // continue with the remaining names
  }
}

/// `as NAME` or `as NAME^2`, for all names of a declaration.
bool Parser::quantity(Statement& s, bool until_line_end) {
  if ((until_line_end && peek().first_on_line) || !accept("as")) return true;
  if (!at(TokenKind::Word)) {
    fail(Code::NameExpected, peek().where, "the name of a quantity is expected after `as`",
         "for example `VARI xi, yi, zi as pos;`");
    return false;
  }
  s.quantity = advance().text;
  if (!accept("^")) return true;
  s.squared = at(TokenKind::Number) && peek().literal.integral && peek().literal.integer == 2;
  if (s.squared) return advance(), true;
  fail(Code::SymbolExpected, peek().where, "`2` is expected here",
       "a variable holds a quantity or its square");
  return false;
}

void Parser::function() {
  Function f;
  if (!require_outermost("a function")) return advance(), skip_statement();
  advance();
  f.name = peek().text;
  f.where = advance().where;
  advance();
  const bool known = parameters(f);
  if (known || skip_to_block()) {
    in_function_ = true;
    const BlockId body = block();
    in_function_ = false;
    if (body == none) skip_statement();
    if (known) f.body = body;
  } else {
    skip_statement();
  }
  // A function with an invalid body is still declared, so that its calls are not reported.
  program_.functions.push_back(std::move(f));
}

bool Parser::parameters(Function& f) {
  if (accept(")")) return true;
  do {
    Parameter p;
    if (starts_local()) p.declared = type_words();
    auto name = declared_name();
    if (!name || failed_) return false;
    if (!name->indices.empty()) {
      fail(Code::NameExpected, name->where, "a parameter must be a single value",
           "pass the elements separately");
      return false;
    }
    p.name = name->name;
    p.where = name->where;
    f.parameters.push_back(p);
  } while (accept(","));
  return expect(")", "after the parameters");
}

void Parser::include() {
  if (!require_outermost("an include")) return skip_statement();
  advance();
  const Token name = advance();
  if (!end_statement()) skip_statement();
  if (sources_.open.size() > index(max_nesting)) {
    error(Code::NestedTooDeeply, name.where, "includes are nested too deeply");
    return;
  }
  const auto found = sources_.find(std::string(name.text), file_);
  if (!found) {
    error(Code::IncludeUnreadable, name.where,
          "the file " + assembly::in_quotes(name.text) + " cannot be read")
        .help("it is searched in this file's directory and the include directories (-I)");
    return;
  }
  if (std::ranges::find(sources_.open, found->file) != sources_.open.end()) {
    error(Code::IncludeCycle, name.where, assembly::in_quotes(name.text) + " includes itself")
        .label("the file is already being read");
    return;
  }
  // A file is read once, even if several others include it.
  if (found->is_new) Parser(program_, sources_, messages_, found->file).parse_file();
}

Sources::Sources(std::string_view text, const std::string& name,
                 std::vector<std::string> include_dirs)
    : include_dirs_(std::move(include_dirs)), characters_(text.size()) {
  texts.push_back({name, std::string(text)});
  numbers_.emplace(std::filesystem::path(name).lexically_normal().string(), 0);
}

std::optional<Sources::Included> Sources::read(const std::string& path) {
  if (const auto known = numbers_.find(path); known != numbers_.end())
    return Included{known->second, false};
  std::optional<std::string> text = assembly::read_text(path);
  if (!text || text->size() > max_characters - characters_) return std::nullopt;
  characters_ += text->size();
  const auto number = static_cast<std::uint32_t>(texts.size());
  texts.push_back({path, std::move(*text)});
  numbers_.emplace(path, number);
  return Included{number, true};
}

std::optional<Sources::Included> Sources::find(const std::string& name, std::uint32_t from) {
  return assembly::find_include(name, texts[from].name, include_dirs_,
                                [&](const std::string& path) { return read(path); });
}

}  // namespace gdr::kc::front
