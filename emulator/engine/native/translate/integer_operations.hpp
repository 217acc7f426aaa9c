// Operations of the integer unit on symbolic words.
#pragma once

#include "emulator/engine/native/translate/integer_nodes.hpp"
#include "emulator/engine/native/translate/long_extrema.hpp"

namespace gdr::native {

/// Translates operations of the integer unit on shorts.
class ShortIntegers {
 public:
  ShortIntegers(Graph& graph, MemoryModel& cells) : c_(cells), integers_(graph, cells) {}

  SlotResult result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

 private:
  Ref carry(const Arithmetic& slot, Ref a, Ref b, Ref result);

  MemoryModel& c_;
  IntegerNodes integers_;
};

/// Translates operations of the integer unit on longs, half by half. Throws Unsupported for those
/// that need more than that.
class LongIntegers {
 public:
  LongIntegers(Graph& graph, MemoryModel& cells)
      : g_(graph), c_(cells), integers_(graph, cells), extrema_(graph, cells) {}

  SlotResult result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

 private:
  SymbolicWord widened(const Operand& x, SymbolicWord word, bool with_sign);
  bool add_to_constant(const Arithmetic& slot, SymbolicWord a, SymbolicWord b, SlotResult& sum);
  bool changes_number(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) const;
  SymbolicWord changed_number(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);
  SlotResult passed(const Arithmetic& slot, SymbolicWord a);
  SlotResult shifted(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);
  SymbolicWord shifted_by(bool left, std::uint64_t count, SymbolicWord a);
  SlotResult sum(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);
  SlotResult logical(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

  Graph& g_;
  MemoryModel& c_;
  IntegerNodes integers_;
  LongExtrema extrema_;
};

}  // namespace gdr::native
