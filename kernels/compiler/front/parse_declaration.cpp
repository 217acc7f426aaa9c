// Declarations in both forms, typed temporaries, functions and includes.
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

/// `VARI`, or `/VARI`. These four words are the only reserved ones.
bool Parser::starts_declaration() const {
  return declaration_word(peek(at(TokenKind::Slash) ? 1 : 0)) != nullptr;
}

/// A type before a name. Elsewhere the words are ordinary names.
bool Parser::starts_local() const {
  return type_word(peek()).has_value() && peek(1).kind == TokenKind::Word;
}

std::optional<Statement> Parser::declaration() {
  Statement s = make(StatementKind::Declare);
  const bool slash = accept(TokenKind::Slash);
  s.where = joined(s.where, peek().where);
  s.variable_kind = declaration_word(advance())->kind;
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
    advance();
  }
  // The names read so far are declared.
  if (!items(s, slash, true)) return skip_statement(), s;
  if (slash && (peek().first_on_line || at(TokenKind::End))) return s;
  if (accept(TokenKind::Semicolon)) return s;
  if (!end_statement()) skip_statement();
  return s;
}

std::optional<Statement> Parser::local() {
  Statement s = make(StatementKind::Local);
  s.type = type_word(advance());
  if (!items(s, false, false) && s.items.empty()) return std::nullopt;
  return s;
}

/// Names with sizes and values, separated by commas. In the slash form a line end terminates them.
bool Parser::items(Statement& s, bool until_line_end, bool commas_may_miss) {
  while (true) {
    auto declared = lvalue();
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
    failed_ = false;  // continue with the remaining names
  }
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
  if (accept(TokenKind::ParenClose)) return true;
  do {
    Parameter p;
    if (peek(1).kind == TokenKind::Word) {
      p.type = type_word(peek());
      if (p.type) advance();
    }
    auto name = lvalue();
    if (!name || failed_) return false;
    if (!name->indices.empty()) {
      fail(Code::NameExpected, name->where, "a parameter must be a single value", {},
           "pass the elements separately");
      return false;
    }
    p.name = name->name;
    p.where = name->where;
    f.parameters.push_back(p);
  } while (accept(TokenKind::Comma));
  return expect(TokenKind::ParenClose, ")", "after the parameters");
}

void Parser::include() {
  if (!require_outermost("an include")) return skip_statement();
  advance();
  const Token name = advance();
  if (!end_statement()) skip_statement();
  if (sources_.open.size() > static_cast<std::size_t>(max_nesting)) {
    messages_.error(Code::NestedTooDeeply, name.where, "includes are nested too deeply");
    return;
  }
  const auto found = sources_.find(std::string(name.text), file_);
  if (!found) {
    messages_.error(Code::IncludeUnreadable, name.where,
                    "the file " + assembly::in_quotes(name.text) + " cannot be read", {},
                    "it is searched in this file's directory and the include directories (-I)");
    return;
  }
  if (std::ranges::find(sources_.open, found->file) != sources_.open.end()) {
    messages_.error(Code::IncludeCycle, name.where,
                    assembly::in_quotes(name.text) + " includes itself",
                    "the file is already being read");
    return;
  }
  // A file is read once, even if several others include it.
  if (found->is_new) Parser(program_, sources_, messages_, found->file).parse_file();
}

}  // namespace gdr::kc::front
