// Declarations in both surface forms, typed temporaries, functions and includes.
#include <algorithm>
#include <array>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {
namespace {

struct DeclarationWord {
  std::string_view text;
  VarKind kind;
};
constexpr DeclarationWord declaration_words[] = {
    {"CONST", VarKind::Param},
    {"VARI", VarKind::Target},
    {"VARJ", VarKind::Source},
    {"VARF", VarKind::Result},
};

const DeclarationWord* declaration_word(const Token& t) noexcept {
  if (t.kind != TokenKind::Word) return nullptr;
  const auto* found = std::ranges::find(declaration_words, t.text, &DeclarationWord::text);
  return found == std::end(declaration_words) ? nullptr : found;
}

struct TypeWord {
  std::string_view text;
  Type type;
};
constexpr TypeWord type_words[] = {
    {"long", Type::Long}, {"short", Type::Short}, {"int", Type::Int}, {"bool", Type::Bool}};

std::optional<Type> type_word(const Token& t) noexcept {
  if (t.kind != TokenKind::Word) return std::nullopt;
  const auto* found = std::ranges::find(type_words, t.text, &TypeWord::text);
  return found == std::end(type_words) ? std::nullopt : std::optional(found->type);
}

}  // namespace

/// `VARI`, or `/VARI`. These four words are the only ones that are no names.
bool Parser::starts_declaration() const {
  return declaration_word(peek(at(TokenKind::Slash) ? 1 : 0)) != nullptr;
}

/// A type in front of a name. The words are free for names everywhere else.
bool Parser::starts_local() const {
  return type_word(peek()).has_value() && peek(1).kind == TokenKind::Word;
}

std::optional<Statement> Parser::declaration() {
  Statement s = make(StatementKind::Declare);
  const bool slash = accept(TokenKind::Slash);
  s.where = joined(s.where, peek().where);
  s.variable_kind = declaration_word(take())->kind;
  while (peek(1).kind == TokenKind::Word && !(slash && peek(1).first_on_line)) {
    const std::optional<Type> type = type_word(peek());
    if (at_word("table") && !s.table)
      s.table = true;
    else if (at_word("list") && !s.list)
      s.list = true;
    else if (type && !s.type)
      s.type = type;
    else
      break;
    take();
  }
  // What could be read is declared.
  if (!items(s, slash, true)) return skip_statement(), s;
  if (slash && (peek().first_on_line || at(TokenKind::End))) return s;
  if (accept(TokenKind::Semicolon)) return s;
  if (!end_statement()) skip_statement();
  return s;
}

std::optional<Statement> Parser::local() {
  Statement s = make(StatementKind::Local);
  s.type = type_word(take());
  if (!items(s, false, false) && s.items.empty()) return std::nullopt;
  return s;
}

/// Names with their sizes and values, commas between. In the slash form a line end is an end.
bool Parser::items(Statement& s, bool until_line_end, bool commas_may_miss) {
  while (true) {
    auto declared = place();
    if (!declared) return false;
    DeclaredItem item{std::move(*declared), none};
    const bool goes_on = !until_line_end || !peek().first_on_line;
    if (goes_on && accept(TokenKind::Equals)) item.value = expression();
    s.items.push_back(std::move(item));
    if (failed_) return false;
    if (accept(TokenKind::Comma)) continue;
    const bool comma_missing =
        commas_may_miss && at(TokenKind::Word) && !peek().first_on_line && !starts_declaration();
    if (!comma_missing) return true;
    fail(Code::SymbolExpected, peek().where, "`,` is expected here, between two names");
    failed_ = false;  // the rest of the names can be read
  }
}

void Parser::function() {
  Function f;
  if (!only_outermost("a function")) return take(), skip_statement();
  take();
  f.name = peek().text;
  f.where = take().where;
  take();
  const bool known = parameters(f);
  if (known || find_block()) {
    in_function_ = true;
    const BlockId body = block();
    in_function_ = false;
    if (body == none) skip_statement();
    if (known) f.body = body;
  } else {
    skip_statement();
  }
  // Without a body it is known all the same, so that its calls are no errors.
  program_.functions.push_back(std::move(f));
}

bool Parser::parameters(Function& f) {
  if (accept(TokenKind::ParenClose)) return true;
  do {
    Parameter p;
    if (peek(1).kind == TokenKind::Word) {
      p.type = type_word(peek());
      if (p.type) take();
    }
    auto name = place();
    if (!name || failed_) return false;
    if (!name->indices.empty()) {
      fail(Code::NameExpected, name->where, "a parameter is a single value", {},
           "pass the elements one by one");
      return false;
    }
    p.name = name->name;
    p.where = name->where;
    f.parameters.push_back(p);
  } while (accept(TokenKind::Comma));
  return expect(TokenKind::ParenClose, ")", "behind the parameters");
}

void Parser::include() {
  if (!only_outermost("an include")) return skip_statement();
  take();
  const Token name = take();
  if (!end_statement()) skip_statement();
  if (sources_.open.size() > static_cast<std::size_t>(deepest_nesting)) {
    messages_.error(Code::NestedTooDeeply, name.where, "includes stand too deep in each other");
    return;
  }
  const auto found = sources_.find(std::string(name.text), file_);
  if (!found) {
    messages_.error(Code::IncludeUnreadable, name.where,
                    "the file " + assembly::in_quotes(name.text) + " cannot be read", {},
                    "it is searched beside this file, then in the include folders (-I)");
    return;
  }
  if (std::ranges::find(sources_.open, found->file) != sources_.open.end()) {
    messages_.error(Code::IncludeCycle, name.where,
                    assembly::in_quotes(name.text) + " includes itself",
                    "it is being read already");
    return;
  }
  // A file counts once: a library of functions may be included by several others.
  if (found->is_new) Parser(program_, sources_, messages_, found->file).parse_file();
}

}  // namespace gdr::kc::front
