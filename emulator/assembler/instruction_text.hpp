// Instructions and their operands as assembly text, with names where a program declares them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "emulator/isa/program.hpp"

namespace gdr {

/// The names by which a program's operands can be written: each maps to exactly that operand.
class OperandNames {
 public:
  OperandNames() = default;
  /// Names of all variables and symbols, with `.v`, `.s` and `@K` where these name more.
  explicit OperandNames(const Program& program);
  /// The name of an operand, or null if it has none.
  const std::string* find(const Operand& operand) const;

 private:
  void add(const std::string& name, Operand operand);
  void add_with_suffixes(const std::string& name, const Operand& location);
  std::unordered_map<std::uint64_t, std::string> names_;
};

/// `$lr6v`, `$m[$t:0..3]`, `$th`, ...: an operand by its address (not an immediate).
std::string location_text(const Operand& location);

/// A name as the assembler reads it: in quotes if it is a word of the language.
std::string name_text(const std::string& name);

/// One instruction as a line of assembly, without its `vlen`.
std::string instruction_text(const Instruction& instruction, const OperandNames& names);

}  // namespace gdr
