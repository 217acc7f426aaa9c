// Instructions and operands as assembly text, with the names declared by a program.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "emulator/isa/program.hpp"

namespace gdr {

/// Names of operands; each denotes exactly one operand.
class OperandNames {
 public:
  OperandNames() = default;
  /// Names of all variables and symbols, with suffixes `.v`, `.s` and `@K`.
  explicit OperandNames(const Program& program);
  /// The name of an operand, or null if it has none.
  const std::string* find(const Operand& operand) const;

 private:
  void add(const std::string& name, Operand operand);
  void add_with_suffixes(const std::string& name, const Operand& location);
  std::unordered_map<std::uint64_t, std::string> names_;
};

/// An operand by its address: `$lr6v`, `$m[$t:0..3]`, `$th`, ... (not an immediate).
std::string location_text(const Operand& location);

/// A name as operand: in quotes if it is reserved.
std::string name_text(const std::string& name);

/// One instruction as a line of assembly, without its `vlen`.
std::string instruction_text(const Instruction& instruction, const OperandNames& names);

}  // namespace gdr
