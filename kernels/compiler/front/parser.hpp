// Recursive descent parser: from tokens to statements, with the source texts of a kernel.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/compiler/front/ast.hpp"
#include "kernels/compiler/front/messages.hpp"

namespace gdr::kc::front {

/// Limit of the total size of all texts in characters.
constexpr std::size_t max_characters = std::size_t{1} << 20;

/// The source texts of a kernel: the file and its includes.
class Sources {
 public:
  Sources(std::string_view text, const std::string& name, std::vector<std::string> include_dirs);

  /// A deque: references stay valid when texts are added.
  std::deque<SourceText> texts;
  /// Files being read, the innermost last.
  std::vector<std::uint32_t> open;

  struct Included {
    std::uint32_t file = 0;
    bool is_new = false;  ///< read for the first time
  };
  /// The file `name` of an include in the file `from`: searched in that file's directory, then in
  /// the include directories. Nothing if it cannot be read, or if the total size exceeds the limit.
  std::optional<Included> find(const std::string& name, std::uint32_t from);

 private:
  std::optional<Included> read(const std::string& path);

  std::vector<std::string> include_dirs_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< text index by normalised path
  std::size_t characters_ = 0;
};

/// Parses one file; included files have their own parser for the same program. After an error the
/// parser continues with the next statement.
class Parser {
 public:
  Parser(Program& program, Sources& sources, Messages& messages, std::uint32_t file);

  /// Append the file's statements to the outermost block.
  void parse_file();

 private:
  // parse_expression.cpp
  ExprId expression() { return nested(&Parser::choice); }
  ExprId nested(ExprId (Parser::*rule)());
  ExprId choice();
  ExprId level(std::size_t precedence);
  ExprId unary();
  ExprId signed_operand();
  ExprId power();
  ExprId postfix();
  ExprId primary();
  ExprId name_or_call();
  ExprId add(Expr expr);
  ExprId bad(const SourceRange& where) { return add({.where = where}); }
  void replace_by_bad(ExprId& id);
  SourceRange joined_range(ExprId first, ExprId last) const;

  // parser.cpp
  void statement(Block& block);
  std::optional<Statement> simple();
  std::optional<Statement> skip();
  std::optional<Statement> return_statement();
  std::optional<Statement> setting();
  std::optional<Statement> assignment();
  bool assigns(std::size_t ahead) const;
  void report_invalid_statement(std::string_view word, const SourceRange& where);
  std::optional<Statement> if_statement();
  std::optional<Statement> for_statement();
  BlockId block();
  BlockId add(Block block);
  std::optional<LValue> lvalue();
  std::optional<LValue> declared_name();

  // parse_declaration.cpp
  bool starts_declaration() const;
  bool starts_local() const;
  DeclaredType type_words();
  std::optional<Statement> declaration();
  std::optional<Statement> local();
  bool items(Statement& s, bool until_line_end, bool commas_may_miss);
  bool quantity(Statement& s, bool until_line_end);
  void function();
  bool parameters(Function& f);
  void include();

  // Tokens and error recovery.
  const Token& peek(std::size_t ahead = 0) const;
  bool at(TokenKind kind, std::size_t ahead = 0) const { return peek(ahead).kind == kind; }
  /// Whether the token is this word or symbol.
  bool at(std::string_view text, std::size_t ahead = 0) const;
  bool at_any(std::span<const std::string_view> texts, std::size_t ahead = 0) const;
  const Token& advance();
  bool accept(std::string_view text);
  bool expect(std::string_view text, const char* after);
  bool end_statement();
  SourceRange after_last_token() const;
  void skip_statement();
  bool skip_to_block();
  /// Report a syntax error: at most one per statement, and none for tokens that the lexer reported.
  void fail(Code code, const SourceRange& where, std::string message, std::string help = {});

  Message error(Code code, const SourceRange& where, std::string message) {
    return messages_.error(code, where, std::move(message));
  }

  Statement make(StatementKind kind) const;
  void append(Block& block, Statement statement);
  bool require_outermost(const char* what);

  Program& program_;
  Sources& sources_;
  Messages& messages_;
  std::uint32_t file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;    ///< nesting of the expression
  int nesting_ = 0;  ///< nesting of blocks
  bool in_function_ = false;
  bool failed_ = false;  ///< whether a syntax error was reported in this statement
};

constexpr int max_nesting = 64;  ///< nesting of blocks, includes and calls

}  // namespace gdr::kc::front
