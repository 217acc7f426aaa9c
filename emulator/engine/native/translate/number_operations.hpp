// Operations of the floating-point units on symbolic words.
#pragma once

#include "emulator/engine/native/translate/integer_nodes.hpp"
#include "emulator/engine/native/translate/section.hpp"

namespace gdr::native {

/// Translates operations that yield numbers. Throws Unsupported where host numbers have other bits
/// than the chip's, and the program depends on these.
class NumberOperations {
 public:
  NumberOperations(const Program& program, SectionModel& model);

  SlotResult result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

 private:
  Ref value(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);
  Ref sum(const Arithmetic& slot, Ref a, Ref b);
  Ref unrounded(const Arithmetic& slot, const Operand& x, Ref inner, Ref other);
  bool takes_back(const Arithmetic& slot, const Node& inner, Ref other) const;
  bool is_known_addend(Ref addend, Ref other) const;
  Ref integer_as_number(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

  Graph& g_;
  MemoryModel& c_;
  IntegerNodes integers_;
  bool longs_are_doubles_;
  bool takes_remainders_;  ///< whether the program finds what a long has beyond a short
};

}  // namespace gdr::native
