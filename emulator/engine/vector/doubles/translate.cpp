#include "emulator/engine/vector/doubles/translate.hpp"

#include <algorithm>
#include <optional>

#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/engine/vector/doubles/word_pass.hpp"
#include "emulator/engine/vector/rows/plan.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

/// One pass over a section with given states at its beginning.
class Translator : public WordPass {
 public:
  Translator(const std::vector<Instruction>& section, const WordUses& uses,
             const Geometry& geometry, const DoublesKernels& kernels, bool heads,
             const std::vector<WordState>& entry)
      : WordPass(uses, geometry, kernels, heads, entry),
        section_(section),
        mask_defined_(mask_registers * max_elements),
        mask_imported_(mask_registers * max_elements),
        mask_written_(mask_registers * max_elements) {}

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
  // --- instructions

  struct Slot {
    const Arithmetic* slot = nullptr;
    Source a, b;
    Result result;
    MaskableKernel kernel;
    RowSpan out;
    bool direct = false;       ///< `out` is the first destination
    bool tested = false;       ///< only the mask's lanes were computed
    bool checked = false;      ///< the kernel checks `a`
    std::optional<bool> flag;  ///< mask flag of a constant, the same in all lanes
  };

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

  Slot prepare(const Arithmetic& slot, unsigned vlen) {
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

  void prepare_float(Slot& s, unsigned vlen) {
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
  void prepare_extreme(Slot& s, unsigned vlen) {
    const Arithmetic& slot = *s.slot;
    if (s.a.form == Form::Short) check_numbers(slot.a, vlen, s.a);
    if (s.b.form == Form::Short) check_numbers(slot.b, vlen, s.b);
    const bool shorts = s.a.form == Form::Short && s.b.form == Form::Short;
    if (shorts && slot.width == Width::Short) s.result.is_float = false;
  }

  /// A sum is never -0 if one operand is never -0.
  void prepare_sum(Slot& s, unsigned subtract, unsigned out) {
    s.kernel =
        kernels_
            .sum[subtract][static_cast<unsigned>(s.a.form)][static_cast<unsigned>(s.b.form)][out];
    s.result.plus_zero = s.a.plus_zero || (subtract == 0 && s.b.plus_zero);
    const bool accumulates = s.a.form == Form::Pair && s.b.form == Form::Short && out == 1;
    if (accumulates && s.a.plus_zero) s.kernel = kernels_.accumulate[subtract];
  }

  void prepare_integer(Slot& s, unsigned vlen) {
    const Arithmetic& slot = *s.slot;
    if (slot.mask.flag == MaskFlag::Carry) throw Untranslatable{"a mask from a carry"};
    const bool pass = slot.op == Op::Ipass || slot.op == Op::Upass;
    if (slot.width == Width::Long) {
      const bool constant = slot.a.space == Space::Immediate;
      const bool tests = slot.mask.flag != MaskFlag::None;
      if (!pass || slot.a.width != Width::Long || (tests && !constant)) {
        throw Untranslatable{"an integer operation on longs"};
      }
      if (tests) {
        const u128 word = slot.immediate.bits;
        s.flag = slot.mask.flag == MaskFlag::Zero ? word == 0 : (word >> 71) != 0;
      }
      if (!tests || leaves_result(slot)) prepare_long_move(s, vlen);
      return;
    }
    s.a = read_short(slot, slot.a, vlen);
    if (slot.b.used()) s.b = read_short(slot, slot.b, vlen);
    s.result = {Rep::Shorts, false, false};
    const auto n = static_cast<unsigned>(slot.op) - static_cast<unsigned>(Op::Iadd);
    s.kernel.always = kernels_.integer[n];
    if (pass) {
      // An infinity or NaN in place of a large number may have another sign; neither is zero.
      if (slot.mask.flag == MaskFlag::Negative) check_numbers(slot.a, vlen, s.a);
      s.result.is_float = may_be_float(slot.a, vlen);
    } else {
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
    if (!slot.b.used()) s.b = s.a;
  }

  void prepare_long_move(Slot& s, unsigned vlen) {
    const Arithmetic& slot = *s.slot;
    if (slot.a.space == Space::Immediate) {
      s.a = long_constant(slot.immediate, "a long integer constant");
    } else {
      s.a = read_float(slot, slot.a, vlen);
    }
    s.result = {Rep::Long, s.a.form == Form::Head, false, s.a.plus_zero};
    s.kernel.always = kernels_.copy[1];
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

  /// Integer results used only for their mask; no result is written.
  static bool only_tested(const Arithmetic& slot) {
    return info(slot.op).unit == Unit::Integer && slot.width == Width::Short &&
           slot.mask.flag != MaskFlag::None && !leaves_result(slot);
  }
  /// Anything but a mask.
  static bool leaves_result(const Arithmetic& slot) {
    return slot.dst.used() || slot.t != TTarget::None;
  }
  static RowSpan flag_rows() { return {{RowKind::Scratch, 24}, {}, false, 1}; }

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
    for (unsigned k = 0; k < i.vlen; ++k) {
      const unsigned row = target.mask * max_elements + k;
      mask_written_[row] = true;
      if (!i.predicate.used) mask_defined_[row] = true;
    }
  }

  // --- the broadcast memory

  static std::uint8_t memory_of(const Operand& bm) {
    return bm.space == Space::BmSource ? 1 : bm.space == Space::BmOutput ? 2 : 0;
  }

  void get(const Instruction& i) {
    const bool strip = !i.predicate.used && !i.move.bm.vector && i.move.pe.width == Width::Short &&
                       (i.move.pe.vector || i.move.pe.space == Space::T);
    if (strip) {
      fill_strip(i);
      return;
    }
    for (unsigned k = 0; k < i.vlen; ++k) {
      const WordHalf h = word_of(numbers_, i.move.pe, k);
      const std::uint32_t address = i.move.bm.at(k);
      if (i.move.pe.width == Width::Short) {
        fill(i, k, h, Width::Short, {Rep::Shorts, false, false}, address);
      } else if (uses_.next(h.word, number_) == Rep::Long) {
        fill(i, k, h, Width::Long, {Rep::Long, heads_, false}, address);
      } else {
        fill(i, k, {h.word, 0}, Width::Short, {Rep::Shorts, false, false}, address);
        fill(i, k, {h.word, 1}, Width::Short, {Rep::Shorts, false, false}, address + 1);
      }
    }
  }

  /// One short to all PEs and elements, whose rows are consecutive.
  void fill_strip(const Instruction& i) {
    const RowSpan to = write_location(i.move.pe, i.vlen, {Rep::Shorts, false, false}, false);
    DoublesOp& op = emit(kernels_.fill[static_cast<unsigned>(Form::Short)], i.vlen, to, no_rows);
    op.memory = memory_of(i.move.bm);
    op.address = i.move.bm.address;
  }

  /// Extends the previous fill if rows and words are consecutive to its own.
  bool joins_last_fill(const RowSpan& out, const DoublesOp& op, unsigned shorts) {
    if (ops_.empty()) return false;
    RowOp& last = ops_.back();
    if (last.op.kernel != op.kernel || last.op.memory != op.memory) return false;
    const auto behind = [&](RowId a, RowId b) {
      return a.kind == b.kind && b.number == a.number + last.op.elements;
    };
    const bool rows =
        behind(last.out.lanes, out.lanes) && (!out.has_tail || behind(last.out.tail, out.tail));
    const bool words = op.address == last.op.address + shorts * last.op.elements;
    if (!rows || !words || (last.op.elements > 1 && last.op.address_step != shorts)) return false;
    last.out.stride = 1;
    last.op.address_step = shorts;
    ++last.op.elements;
    return true;
  }

  /// One word to all PEs, for one element.
  void fill(const Instruction& i, unsigned k, WordHalf h, Width width, const Result& r,
            std::uint32_t address) {
    write_word(h, width, r, i.predicate.used);
    const RowSpan to = r.rep == Rep::Long ? long_rows(h.word, 0) : short_rows(h, 0);
    const Form form = r.rep == Rep::Shorts ? Form::Short : r.head ? Form::Head : Form::Pair;
    const RowSpan out = i.predicate.used ? scratch_rows(2, r.rep) : to;
    DoublesOp op;
    op.kernel = kernels_.fill[static_cast<unsigned>(form)];
    op.memory = memory_of(i.move.bm);
    op.address = address;
    if (!i.predicate.used && joins_last_fill(out, op, form == Form::Short ? 1 : 2)) return;
    DoublesOp& emitted = emit(op.kernel, 1, out, no_rows);
    emitted.memory = op.memory;
    emitted.address = op.address;
    if (i.predicate.used) blend(i, 1, k, out, to);
  }

  /// Stores longs of all elements with one operation if nothing else of the instruction accesses
  /// the memory.
  static bool is_strip_store(const Instruction& i) {
    const Operand& x = i.move.pe;
    return !i.predicate.used && x.width == Width::Long && i.move.bm.width == Width::Long &&
           i.move.bm.vector && (x.vector || x.space == Space::T);
  }

  void store_strip(const Instruction& i) {
    const Operand& x = i.move.pe;
    for (unsigned k = 0; k < i.vlen; ++k) {
      const std::uint32_t word = word_of(numbers_, x, k).word;
      convert(word, Rep::Shorts);
      for (const unsigned half : {0U, 1U}) {
        need(word, half);
        check_number(word, half);
      }
    }
    const std::uint32_t first = word_of(numbers_, x, 0).word;
    const RowSpan upper = short_rows({first, 0}, x.space == Space::T ? 1 : 2);
    const RowSpan both{upper.lanes, short_rows({first, 1}, 0).lanes, true, upper.stride};
    DoublesOp& op = emit(store_longs, i.vlen, no_rows, both);
    op.memory = memory_of(i.move.bm);
    op.address = i.move.bm.address;
    op.lane = i.move.pe_number;
  }

  /// Reads the PE's word of each element as shorts, to be stored to the memory.
  void read_put(const Instruction& i) {
    if (is_strip_store(i)) return store_strip(i);
    const Operand& x = i.move.pe;
    for (unsigned k = 0; k < i.vlen; ++k) {
      const WordHalf h = word_of(numbers_, x, k);
      const bool whole = x.width == Width::Long;
      if (whole) convert(h.word, Rep::Shorts);
      for (unsigned half = whole ? 0 : h.half; half < (whole ? 2 : h.half + 1); ++half) {
        convert(h.word, Rep::Shorts);
        need(h.word, half);
        check_number(h.word, half);
        DoublesOp& op = emit(read_lane, 1, no_rows, short_rows({h.word, half}, 0));
        op.lane = i.move.pe_number;
        op.element = static_cast<std::uint8_t>(2 * k + (whole ? half : 0));
      }
    }
  }

  void write_put(const Instruction& i) {
    writes_memory_ = true;
    if (is_strip_store(i)) return;
    const unsigned shorts = shorts_in(i.move.pe.width);
    for (unsigned k = 0; k < i.vlen; ++k) {
      for (unsigned half = 0; half < shorts; ++half) {
        DoublesOp& op =
            emit(i.predicate.used ? write_masked_word : write_always, 1, no_rows, no_rows);
        op.memory = memory_of(i.move.bm);
        op.address = i.move.bm.at(k) + half;
        op.element = static_cast<std::uint8_t>(2 * k + half);
        op.lane = i.move.pe_number;
        op.value = i.predicate.value;
        if (i.predicate.used) ops_.back().mask = mask_rows(i.predicate.mask, k);
      }
    }
  }

  const std::vector<Instruction>& section_;
  std::vector<bool> mask_defined_, mask_imported_, mask_written_;
  bool writes_memory_ = false;
};

bool uses_floats(const Instruction& i) {
  const auto floats = [](const Arithmetic& slot) {
    return slot.used() && info(slot.op).unit != Unit::Integer;
  };
  return floats(i.mul) || floats(i.alu);
}

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

namespace {

/// The place of an instruction: section, number, and its line if that is known.
std::string place_of(const Program& program, Section which, std::size_t number) {
  const auto s = static_cast<unsigned>(which);
  std::string text = std::string(section_names[s]) + ", instruction " + std::to_string(number);
  const auto& lines = program.lines[s];
  if (number >= lines.size() || lines[number].line == 0) return text;
  const SourceLine& from = lines[number];
  text += ", ";
  if (from.file < program.files.size()) text += program.files[from.file] + ":";
  return text + std::to_string(from.line);
}

}  // namespace

DoublesSection translate_to_doubles(const Program& program, Section which, const Geometry& geometry,
                                    const DoublesKernels& kernels, bool heads) {
  const std::vector<Instruction>& section = program.section(which);
  DoublesSection out;
  if (std::none_of(section.begin(), section.end(), uses_floats)) return out;
  try {
    RowSection rows = translate_section(section, geometry, kernels, heads);
    const WordNumbers numbers(geometry);
    RowProgram one(rows, numbers, std::vector<bool>(numbers.count(), true));
    one.pass = std::move(rows.ops);
    one.repeats = which == Section::Body;
    for (RowOp& o : one.pass) o.origin.section = which;
    out = lay_out(std::move(one), kernels, row_lanes(geometry, kernels));
    out.writes_memory = rows.writes_memory;
  } catch (const Untranslatable& u) {
    out.reason = place_of(program, which, u.instruction) + ": " + u.why;
  }
  out.has_floats = true;
  return out;
}

}  // namespace gdr
