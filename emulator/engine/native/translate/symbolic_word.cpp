#include "emulator/engine/native/translate/symbolic_word.hpp"

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr::native {

Ref number_of(MemoryModel& cells, SymbolicWord word, Width width) {
  return width == Width::Long ? cells.long_number(word.upper, word.lower)
                              : cells.short_number(word.lower);
}

SymbolicWord word_of_number(MemoryModel& cells, const Graph& graph, Ref number, Width width) {
  if (width == Width::Short) return {cells.constant(0), cells.value(number)};
  if (graph.is_constant(number)) {
    Flags ignored = no_flags;
    const Long word = fcvt(Long{u128{graph[number].bits} << 8}, Width::Long, ignored);
    return {cells.constant(upper_half(word).bits), cells.constant(lower_half(word).bits)};
  }
  return {cells.half(number, false), cells.half(number, true)};
}

}  // namespace gdr::native
