#include "emulator/engine/vector/doubles/slot_translator.hpp"

#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

/// Whether an operation only moves its operand.
bool is_pass(const Arithmetic& slot) { return slot.op == Op::Ipass || slot.op == Op::Upass; }

}  // namespace

bool SlotTranslator::only_tested(const Arithmetic& slot) {
  return info(slot.op).unit == Unit::Integer && slot.width == Width::Short &&
         slot.mask.flag != MaskFlag::None && !leaves_result(slot);
}

SlotTranslator::Slot SlotTranslator::prepare(const Arithmetic& slot, unsigned vlen) {
  Slot s;
  if (!slot.used()) return s;
  s.slot = &slot;
  if (info(slot.op).unit == Unit::Integer) {
    prepare_integer(s, vlen);
  } else {
    prepare_float(s, vlen);
  }
  return s;
}

void SlotTranslator::prepare_float(Slot& s, unsigned vlen) {
  const Arithmetic& slot = *s.slot;
  const bool wide = slot.width == Width::Long;
  s.a = read_float(slot, slot.a, vlen);
  if (slot.b.used()) s.b = read_float(slot, slot.b, vlen);
  const auto a = static_cast<unsigned>(s.a.form), b = static_cast<unsigned>(s.b.form);
  const unsigned out = wide ? 1 : 0;
  s.result = {wide ? Rep::Long : Rep::Shorts, false, !wide};
  switch (slot.op) {
    case Op::Fadd:
    case Op::Fsub:
      prepare_sum(s, slot.op == Op::Fsub ? 1 : 0, out);
      break;
    case Op::Fmul:
    case Op::Dmul:
      s.kernel = kernels_.product[slot.op == Op::Dmul ? 1 : 0][a][b][out];
      break;
    case Op::Fmax:
    case Op::Fmin:
      prepare_extreme(s, vlen);
      s.kernel.always = kernels_.extreme[slot.op == Op::Fmin ? 1 : 0][a][b][out];
      break;
    case Op::Fcvt:
      s.kernel.always = kernels_.convert[a][out];
      break;
    default:
      throw Untranslatable{"an operation without a version in doubles"};
  }
}

/// Inexact infinities and NaN must not be compared. The result of two shorts is one of them.
void SlotTranslator::prepare_extreme(Slot& s, unsigned vlen) {
  const Arithmetic& slot = *s.slot;
  if (s.a.form == Form::Short) check_numbers(slot.a, vlen, s.a);
  if (s.b.form == Form::Short) check_numbers(slot.b, vlen, s.b);
  const bool shorts = s.a.form == Form::Short && s.b.form == Form::Short;
  if (shorts && slot.width == Width::Short) s.result.is_float = false;
}

/// A sum is never -0 if one operand is never -0.
void SlotTranslator::prepare_sum(Slot& s, unsigned subtract, unsigned out) {
  s.kernel =
      kernels_.sum[subtract][static_cast<unsigned>(s.a.form)][static_cast<unsigned>(s.b.form)][out];
  s.result.plus_zero = s.a.plus_zero || (subtract == 0 && s.b.plus_zero);
  const bool accumulates = s.a.form == Form::Pair && s.b.form == Form::Short && out == 1;
  if (accumulates && s.a.plus_zero) s.kernel = kernels_.accumulate[subtract];
}

void SlotTranslator::prepare_integer(Slot& s, unsigned vlen) {
  const Arithmetic& slot = *s.slot;
  if (slot.mask.flag == MaskFlag::Carry) throw Untranslatable{"a mask from a carry"};
  if (slot.width == Width::Long) return prepare_long_integer(s, vlen);
  s.a = read_short(slot, slot.a, vlen);
  if (slot.b.used()) s.b = read_short(slot, slot.b, vlen);
  s.result = {Rep::Shorts, false, false};
  choose_integer(s, vlen);
  if (!slot.b.used()) s.b = s.a;
}

/// Only moves and constants.
void SlotTranslator::prepare_long_integer(Slot& s, unsigned vlen) {
  const Arithmetic& slot = *s.slot;
  const bool constant = slot.a.space == Space::Immediate;
  const bool tests = slot.mask.flag != MaskFlag::None;
  if (!is_pass(slot) || slot.a.width != Width::Long || (tests && !constant)) {
    throw Untranslatable{"an integer operation on longs"};
  }
  if (tests) {
    const u128 word = slot.immediate.bits;
    s.flag = slot.mask.flag == MaskFlag::Zero ? word == 0 : (word >> 71) != 0;
  }
  if (!tests || leaves_result(slot)) prepare_long_move(s, vlen);
}

void SlotTranslator::choose_integer(Slot& s, unsigned vlen) {
  const Arithmetic& slot = *s.slot;
  const auto n = static_cast<unsigned>(slot.op) - static_cast<unsigned>(Op::Iadd);
  s.kernel.always = kernels_.integer[n];
  if (is_pass(slot)) {
    // An infinity or NaN in place of a large number may have another sign; neither is zero.
    if (slot.mask.flag == MaskFlag::Negative) check_numbers(slot.a, vlen, s.a);
    s.result.is_float = may_be_float(slot.a, vlen);
    return;
  }
  if (slot.b.used()) check_numbers(slot.b, vlen, s.b);
  if (only_tested(slot)) {
    check_numbers(slot.a, vlen, s.a);
    s.kernel.always = kernels_.integer_test[n][slot.mask.flag == MaskFlag::Zero ? 1 : 0];
  } else if (may_be_float(slot.a, vlen)) {
    s.kernel.always = kernels_.integer_checked[n];
    s.checked = true;
    mark_number(slot.a, vlen);
  }
}

void SlotTranslator::prepare_long_move(Slot& s, unsigned vlen) {
  const Arithmetic& slot = *s.slot;
  if (slot.a.space == Space::Immediate) {
    s.a = long_constant(slot.immediate, "a long integer constant");
  } else {
    s.a = read_float(slot, slot.a, vlen);
  }
  s.result = {Rep::Long, s.a.form == Form::Head, false, s.a.plus_zero};
  s.kernel.always = kernels_.copy[1];
}

}  // namespace gdr
