// The arithmetic of an instruction's slots: operands, kernel, and properties of the result.
#pragma once

#include <optional>

#include "emulator/engine/vector/doubles/memory_translator.hpp"

namespace gdr {

class SlotTranslator : public MemoryTranslator {
 protected:
  using MemoryTranslator::MemoryTranslator;

  struct Slot {
    const Arithmetic* slot = nullptr;
    Source a, b;
    Result result;
    MaskableKernel kernel;
    RowSpan out;
    bool direct = false;       ///< `out` is the first destination
    bool tested = false;       ///< whether only the mask's lanes were computed
    bool checked = false;      ///< the kernel checks `a`
    std::optional<bool> flag;  ///< mask flag of a constant, the same in all lanes
  };

  /// Converts and checks the operands of a slot, and chooses its kernel.
  Slot prepare(const Arithmetic& slot, unsigned vlen);

  /// Integer results used only for their mask; no result is written.
  static bool only_tested(const Arithmetic& slot);
  /// Anything but a mask.
  static bool leaves_result(const Arithmetic& slot) {
    return slot.dst.used() || slot.t != TTarget::None;
  }

 private:
  void prepare_float(Slot& s, unsigned vlen);
  void prepare_extreme(Slot& s, unsigned vlen);
  void prepare_sum(Slot& s, unsigned subtract, unsigned out);
  void prepare_integer(Slot& s, unsigned vlen);
  void choose_integer(Slot& s, unsigned vlen);
  void prepare_long_integer(Slot& s, unsigned vlen);
  void prepare_long_move(Slot& s, unsigned vlen);
};

}  // namespace gdr
