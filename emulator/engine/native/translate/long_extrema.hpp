// Minima and maxima of long integers, and what kernels use them for.
#pragma once

#include <optional>

#include "emulator/engine/native/translate/integer_nodes.hpp"

namespace gdr::native {

/// Translates minima and maxima of longs.
class LongExtrema {
 public:
  LongExtrema(Graph& graph, MemoryModel& cells) : g_(graph), c_(cells), integers_(graph, cells) {}

  SlotResult result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

 private:
  bool is_widened(const Operand& x, SymbolicWord word) const;
  bool is_sum_of_squares(Ref r) const;
  std::optional<SymbolicWord> min_number(const Arithmetic& slot, SymbolicWord key,
                                         SymbolicWord other);
  std::optional<SymbolicWord> extremum_of_shorts(const Arithmetic& slot, SymbolicWord a,
                                                 SymbolicWord b);
  SymbolicWord extremum_of_longs(const Arithmetic& slot, SymbolicWord a, SymbolicWord b);

  Graph& g_;
  MemoryModel& c_;
  IntegerNodes integers_;
};

}  // namespace gdr::native
