// Instructions that access the broadcast memory.
#pragma once

#include "emulator/engine/vector/doubles/predicated_translator.hpp"

namespace gdr {

class MemoryTranslator : public PredicatedTranslator {
 protected:
  using PredicatedTranslator::PredicatedTranslator;

  /// Words of the memory to all PEs.
  void get(const Instruction& i);
  /// Reads the PE's word of each element as shorts, to be stored to the memory.
  void read_put(const Instruction& i);
  /// Stores them.
  void write_put(const Instruction& i);

  bool writes_memory_ = false;  ///< whether the section stores to the memory

 private:
  void fill_strip(const Instruction& i);
  bool joins_last_fill(const RowSpan& out, const DoublesOp& op, unsigned shorts);
  void fill(const Instruction& i, unsigned k, WordHalf h, Width width, const Result& r,
            std::uint32_t address);
  void store_strip(const Instruction& i);
};

}  // namespace gdr
