// Words of one PE during translation, as symbolic shorts, and the words of numbers.
#pragma once

#include "emulator/engine/native/translate/memory_model.hpp"

namespace gdr::native {

/// The two shorts of a word; a short has its only one in `lower`.
struct SymbolicWord {
  CellValue upper = 0, lower = 0;
};

/// What an operation of one element writes.
struct SlotResult {
  SymbolicWord word;
  Ref flag = no_ref;  ///< mask, of operations that set one
};

/// A word as a number of a width.
Ref number_of(MemoryModel& cells, SymbolicWord word, Width width);
/// A number as a word of a width.
SymbolicWord word_of_number(MemoryModel& cells, const Graph& graph, Ref number, Width width);

}  // namespace gdr::native
