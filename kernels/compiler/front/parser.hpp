// Recursive descent parser: from tokens to statements.
#pragma once

#include <optional>
#include <string>

#include "kernels/compiler/front/ast.hpp"
#include "kernels/compiler/front/messages.hpp"
#include "kernels/compiler/front/sources.hpp"

namespace gdr::kc::front {

constexpr int max_expression_depth = 200;
constexpr int max_nesting = 64;  ///< nesting of blocks, includes and calls

/// Parses one file; included files have their own parser for the same program. After an error the
/// parser continues with the next statement.
class Parser {
 public:
  Parser(Program& program, Sources& sources, Messages& messages, std::uint32_t file);

  /// Append the file's statements to the outermost block.
  void parse_file();

 private:
  // parse_expression.cpp
  ExprId expression();
  ExprId level(int precedence);
  ExprId unary();
  ExprId power();
  ExprId primary();
  ExprId name_or_call();
  bool operands_in(TokenKind close, const char* text, std::vector<ExprOperand>& operands);
  ExprId add(Expr expr);
  ExprId bad(const SourceRange& where);
  bool enter();
  void replace_by_bad(ExprId& id);

  // parser.cpp, parse_statement.cpp, parse_block.cpp
  void statement(std::vector<std::int32_t>& block);
  bool compound(std::vector<std::int32_t>& block);
  std::optional<Statement> simple();
  std::optional<Statement> skip();
  std::optional<Statement> return_statement();
  std::optional<Statement> setting();
  std::optional<Statement> assignment();
  bool reduction_value(Statement& s);
  bool assigns(std::size_t ahead) const;
  void report_invalid_statement(std::string_view word, const SourceRange& where);
  std::optional<Statement> if_statement();
  std::optional<Statement> for_statement();
  BlockId block();
  std::optional<LValue> lvalue();

  // parse_declaration.cpp
  bool starts_declaration() const;
  bool starts_local() const;
  std::optional<Statement> declaration();
  std::optional<Statement> local();
  bool items(Statement& s, bool until_line_end, bool commas_may_miss);
  void function();
  bool parameters(Function& f);
  void include();

  // Tokens and error recovery.
  const Token& peek(std::size_t ahead = 0) const;
  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool at_word(std::string_view text, std::size_t ahead = 0) const;
  const Token& advance();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind, const char* text, const char* after);
  bool end_statement();
  SourceRange after_last_token() const;
  void skip_statement();
  bool skip_to_block();
  /// Report a syntax error: at most one per statement, and none for tokens that the lexer reported.
  void fail(Code code, const SourceRange& where, std::string message, std::string label = {},
            std::string help = {});

  Statement make(StatementKind kind) const;
  void append(std::vector<std::int32_t>& block, Statement statement);
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
  bool failed_ = false;  ///< a syntax error was reported in this statement
};

}  // namespace gdr::kc::front
