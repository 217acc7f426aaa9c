// The masks of a section, and writes under a predicate.
#pragma once

#include <vector>

#include "emulator/engine/vector/doubles/word_translator.hpp"

namespace gdr {

class PredicatedTranslator : public WordTranslator {
 protected:
  PredicatedTranslator(const WordUses& uses, const Geometry& geometry,
                       const DoublesKernels& kernels, bool heads,
                       const std::vector<WordState>& entry)
      : WordTranslator(uses, geometry, kernels, heads, entry),
        mask_defined_(mask_registers * max_elements),
        mask_imported_(mask_registers * max_elements),
        mask_written_(mask_registers * max_elements) {}

  /// Copies rows to others, under an instruction's predicate from element `first` on.
  void blend(const Instruction& i, unsigned elements, unsigned first, const RowSpan& from,
             const RowSpan& to) {
    emit(kernels_.blend[from.has_tail ? 1 : 0][i.predicate.value ? 1 : 0], elements, to, from);
    set_predicate(i, first);
  }

  void set_predicate(const Instruction& i, unsigned first) {
    ops_.back().mask = mask_rows(i.predicate.mask, first);
    ops_.back().op.value = i.predicate.value;
  }

  void need_mask(unsigned mask, unsigned elements) {
    for (unsigned k = 0; k < elements; ++k) {
      const unsigned row = mask * max_elements + k;
      if (!mask_defined_[row]) mask_imported_[row] = true;
    }
  }
  /// Records a write to a mask.
  void define_mask(unsigned mask, unsigned elements, bool keep) {
    for (unsigned k = 0; k < elements; ++k) {
      const unsigned row = mask * max_elements + k;
      mask_written_[row] = true;
      if (!keep) mask_defined_[row] = true;
    }
  }
  /// Rows for a mask until it is blended.
  static RowSpan flag_rows() { return {{RowKind::Scratch, 24}, {}, false, 1}; }

  std::vector<bool> mask_defined_, mask_imported_, mask_written_;
};

}  // namespace gdr
