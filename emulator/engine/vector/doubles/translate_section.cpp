// A section as operations on rows: its instructions in order, until the forms of words settle.
#include "emulator/engine/vector/doubles/row_program.hpp"
#include "emulator/engine/vector/doubles/slot_translator.hpp"
#include "emulator/engine/vector/rows/plan.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

/// The translation of a section with given states at its beginning.
class Translator : public SlotTranslator {
 public:
  Translator(const std::vector<Instruction>& section, const WordUses& uses,
             const Geometry& geometry, const DoublesKernels& kernels, bool heads,
             const std::vector<WordState>& entry)
      : SlotTranslator(uses, geometry, kernels, heads, entry), section_(section) {}

  void translate() {
    for (number_ = 0; number_ < section_.size(); ++number_) {
      try {
        if (!section_[number_].idle()) instruction(section_[number_]);
      } catch (const Untranslatable& u) {
        throw Untranslatable{u.why, number_};
      }
    }
    restore_forms();
  }

  RowSection finish() && {
    return {std::move(ops_),           std::move(constants_),    entry_,
            std::move(words_),         std::move(imported_),     std::move(written_),
            std::move(mask_imported_), std::move(mask_written_), writes_memory_};
  }

 private:
  void instruction(const Instruction& i) {
    if (uses_t_address(i)) throw Untranslatable{"T addresses local memory"};
    if (writes_meet(i)) throw Untranslatable{"two slots write the same place"};
    const SlotOrder order = slot_order(i);
    Slot mul = prepare(i.mul, i.vlen);
    Slot alu = prepare(i.alu, i.vlen);
    if (i.move.op == Op::Bput) read_put(i);
    if (i.predicate.used) need_mask(i.predicate.mask, i.vlen);
    const bool in_order = order != SlotOrder::Neither;
    if (order == SlotOrder::AdderFirst) {
      compute(i, alu, 1, in_order);
      compute(i, mul, 0, in_order);
    } else {
      compute(i, mul, 0, in_order);
      compute(i, alu, 1, in_order);
    }
    commit(i, mul);
    commit(i, alu);
    if (i.move.op == Op::Bget) get(i);
    if (i.move.op == Op::Bput) write_put(i);
    if (alu.slot != nullptr) set_mask(i, alu);
  }

  /// Results are written in place if no other part of the instruction reads that location
  /// afterwards, and if a kernel supports the predicate.
  void compute(const Instruction& i, Slot& s, unsigned strip, bool in_order) {
    if (s.slot == nullptr) return;
    const Arithmetic& slot = *s.slot;
    if (s.flag && !leaves_result(slot)) {
      s.tested = true;
      return;
    }
    s.tested = only_tested(slot) && (slot.op != Op::Ipass && slot.op != Op::Upass);
    if (s.tested) {  // an instruction reads its predicate before it writes the mask
      const RowSpan to = i.predicate.used ? flag_rows() : mask_rows(slot.mask.mask, 0);
      emit(s.kernel.always, i.vlen, to, s.a.rows, s.b.rows);
      ops_.back().kind = RowOpKind::Test;
      return;
    }
    const DoublesKernel kernel =
        i.predicate.used ? s.kernel.under[i.predicate.value ? 1 : 0] : s.kernel.always;
    s.direct = in_order && kernel != nullptr && leaves_result(slot);
    if (!s.direct) {
      s.out = scratch_rows(strip, s.result.rep);
      emit(s.kernel.always, i.vlen, s.out, s.a.rows, s.b.rows);
      if (s.checked) ops_.back().kind = RowOpKind::CheckedInput;
      return;
    }
    const Operand first = slot.dst.used() ? slot.dst : t_operand(slot.t, slot.width);
    s.out = write_location(first, i.vlen, s.result, i.predicate.used);
    emit(kernel, i.vlen, s.out, s.a.rows, s.b.rows);
    if (s.checked) ops_.back().kind = RowOpKind::CheckedInput;
    if (i.predicate.used) set_predicate(i, 0);
  }

  /// Copies results from scratch to their destinations, and to T as a second destination. Under a
  /// predicate, excluded lanes of a first destination that was written directly are not copied
  /// either.
  void commit(const Instruction& i, const Slot& s) {
    if (s.slot == nullptr || s.tested) return;
    const Arithmetic& slot = *s.slot;
    if (slot.dst.used() && !s.direct) move(i, s.out, slot.dst, s.result);
    if (slot.t != TTarget::None && (slot.dst.used() || !s.direct)) {
      move(i, s.out, t_operand(slot.t, slot.width), s.result);
    }
  }

  /// Rows to a location, under the instruction's predicate.
  void move(const Instruction& i, const RowSpan& from, const Operand& to, const Result& r) {
    const RowSpan out = write_location(to, i.vlen, r, i.predicate.used);
    if (i.predicate.used) {
      blend(i, i.vlen, 0, from, out);
    } else {
      emit(kernels_.copy[from.has_tail ? 1 : 0], i.vlen, out, from);
    }
  }

  void set_mask(const Instruction& i, const Slot& s) {
    const MaskTarget target = s.slot->mask;
    if (target.flag == MaskFlag::None) return;
    const bool integer = info(s.slot->op).unit == Unit::Integer;
    const bool zero = target.flag == MaskFlag::Zero;
    const RowSpan rows = mask_rows(target.mask, 0);
    if (s.flag) {
      const RowSpan bits = constant(*s.flag ? ~std::uint64_t{0} : 0);
      emit(kernels_.copy[0], i.vlen, i.predicate.used ? flag_rows() : rows, bits);
    } else if (!s.tested) {
      RowSpan from = s.out;
      from.has_tail = false;
      constexpr auto pass = static_cast<unsigned>(Op::Ipass) - static_cast<unsigned>(Op::Iadd);
      const DoublesKernel test =
          integer ? kernels_.integer_test[pass][zero ? 1 : 0] : kernels_.test[zero ? 1 : 0];
      emit(test, i.vlen, i.predicate.used ? flag_rows() : rows, from, integer ? from : no_rows);
      ops_.back().kind = RowOpKind::Test;
    }
    if (i.predicate.used) {
      need_mask(target.mask, i.vlen);
      blend(i, i.vlen, 0, flag_rows(), rows);
    }
    define_mask(target.mask, i.vlen, i.predicate.used);
  }

  const std::vector<Instruction>& section_;
};

}  // namespace

RowSection translate_section(const std::vector<Instruction>& section, const Geometry& geometry,
                             const DoublesKernels& kernels, bool heads,
                             const Surroundings& around) {
  const WordNumbers numbers(geometry);
  const WordUses uses(section, numbers, around.then);
  std::vector<WordState> entry = first_entry(uses, numbers, heads);
  for (std::size_t w = 0; w < around.granted.size(); ++w) {
    WordState& word = entry[w];
    word.head = word.head && around.granted[w].head;
    word.plus_zero = word.plus_zero && around.granted[w].plus_zero;
  }
  // States only get weaker, so this terminates.
  for (;;) {
    Translator translator(section, uses, geometry, kernels, heads, entry);
    translator.translate();
    std::vector<WordState> weaker = entry;
    if (translator.settled(weaker)) return std::move(translator).finish();
    entry = weaker;
  }
}

}  // namespace gdr
