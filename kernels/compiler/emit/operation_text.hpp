// Text of single operations and their operands, at their allocated locations.
#pragma once

#include <string>

#include "kernels/compiler/codegen.hpp"

namespace gdr::kc {

inline const char* width_name(Width w) { return w == Width::Long ? "long" : "short"; }
/// The bits of a word as an immediate operand.
std::string hex_bits(u128 bits, Width width);
/// An operand in the register file or in local memory.
std::string in_file(int address, Width width, bool vector, bool local);
/// T, or a half of it.
std::string in_t_file(StorageClass storage, Width width);

class OperationText {
 public:
  explicit OperationText(const CompiledKernel& kernel);

  /// The location of a value in one copy of the body, as an operand.
  std::string location(ValueId id, int copy) const;
  /// An operand of an operation before the loop.
  std::string operand(const Ref& r) const;
  /// Whether a value is in local memory.
  bool is_local(ValueId id) const;
  std::string mask_name(MaskId mask, int copy) const;
  /// A variable's name as an operand.
  std::string name_of(std::int32_t variable) const;
  /// The name of a constant in the broadcast memory.
  std::string word_name(std::size_t word) const { return word_ + std::to_string(word); }

  /// An operation of the loop, or after these the load of a block, without its predicate.
  std::string operation(std::size_t i, int copy) const;

 private:
  bool reads_t_copy(ValueId id, std::size_t reader) const;
  std::string load(const MachineOp& op, int copy) const;
  std::string block_load(std::size_t b, int copy) const;

  const CompiledKernel& kernel_;
  const MachineLoop& loop_;
  const Schedule& s_;
  std::string word_ = "word";  ///< a prefix of no variable's name
};

}  // namespace gdr::kc
