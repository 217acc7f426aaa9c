// The operands of instructions in the symbolic state of a section.
#pragma once

#include "emulator/engine/native/translate/section.hpp"
#include "emulator/engine/native/translate/symbolic_word.hpp"

namespace gdr::native {

/// Reads operands from the state of a section and writes to it, for one element at a time.
class OperandAccess {
 public:
  explicit OperandAccess(SectionModel& model) : m_(model), zero_(model.cells.constant(0)) {}

  /// The mask that a predicate names.
  Ref mask(const Predicate& predicate, unsigned element) const;
  /// The lower half of T.
  CellValue address(unsigned element) const { return m_.state[m_.map.t + element * 2 + 1]; }
  /// An operand of a PE, or the immediate of a slot.
  SymbolicWord read(const Operand& x, Long immediate, unsigned element);
  /// A word of the broadcast memory. Throws Unsupported if the section has changed it.
  SymbolicWord read_memory(const Operand& x, unsigned element);

  /// Stores to a location of a PE where the mask holds.
  void write(const Operand& dst, Width width, unsigned element, SymbolicWord word, Ref enabled);
  /// Stores the result of an operation to all its destinations but local memory at T.
  void write(const Arithmetic& slot, const SlotResult& result, unsigned element, Ref enabled);
  /// Stores to the broadcast memory.
  void write_memory(const Transfer& move, unsigned element, SymbolicWord word, Ref enabled);

 private:
  SymbolicWord table_element(const Operand& x, unsigned element);

  SectionModel& m_;
  CellValue zero_;
};

}  // namespace gdr::native
