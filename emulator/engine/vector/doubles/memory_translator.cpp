#include "emulator/engine/vector/doubles/memory_translator.hpp"

namespace gdr {
namespace {

/// Which of DoublesRun::memory.
std::uint8_t memory_number(const Operand& bm) {
  return bm.space == Space::BmSource ? 1 : bm.space == Space::BmOutput ? 2 : 0;
}

/// Stores longs of all elements with one operation if nothing else of the instruction accesses
/// the memory.
bool is_strip_store(const Instruction& i) {
  const Operand& x = i.move.pe;
  return !i.predicate.used && x.width == Width::Long && i.move.bm.width == Width::Long &&
         i.move.bm.vector && (x.vector || x.space == Space::T);
}

}  // namespace

void MemoryTranslator::get(const Instruction& i) {
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
void MemoryTranslator::fill_strip(const Instruction& i) {
  const RowSpan to = write_location(i.move.pe, i.vlen, {Rep::Shorts, false, false}, false);
  DoublesOp& op = emit(kernels_.fill[static_cast<unsigned>(Form::Short)], i.vlen, to, no_rows);
  op.memory = memory_number(i.move.bm);
  op.address = i.move.bm.address;
}

/// Extends the previous fill if rows and words are consecutive to its own.
bool MemoryTranslator::joins_last_fill(const RowSpan& out, const DoublesOp& op, unsigned shorts) {
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
void MemoryTranslator::fill(const Instruction& i, unsigned k, WordHalf h, Width width,
                            const Result& r, std::uint32_t address) {
  write_word(h, width, r, i.predicate.used);
  const RowSpan to = r.rep == Rep::Long ? long_rows(h.word, 0) : short_rows(h, 0);
  const Form form = r.rep == Rep::Shorts ? Form::Short : r.head ? Form::Head : Form::Pair;
  const RowSpan out = i.predicate.used ? scratch_rows(2, r.rep) : to;
  DoublesOp op;
  op.kernel = kernels_.fill[static_cast<unsigned>(form)];
  op.memory = memory_number(i.move.bm);
  op.address = address;
  if (!i.predicate.used && joins_last_fill(out, op, form == Form::Short ? 1 : 2)) return;
  DoublesOp& emitted = emit(op.kernel, 1, out, no_rows);
  emitted.memory = op.memory;
  emitted.address = op.address;
  if (i.predicate.used) blend(i, 1, k, out, to);
}

void MemoryTranslator::store_strip(const Instruction& i) {
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
  op.memory = memory_number(i.move.bm);
  op.address = i.move.bm.address;
  op.lane = i.move.pe_number;
}

void MemoryTranslator::read_put(const Instruction& i) {
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

void MemoryTranslator::write_put(const Instruction& i) {
  writes_memory_ = true;
  if (is_strip_store(i)) return;
  const unsigned shorts = shorts_in(i.move.pe.width);
  for (unsigned k = 0; k < i.vlen; ++k) {
    for (unsigned half = 0; half < shorts; ++half) {
      DoublesOp& op =
          emit(i.predicate.used ? write_masked_word : write_always, 1, no_rows, no_rows);
      op.memory = memory_number(i.move.bm);
      op.address = i.move.bm.at(k) + half;
      op.element = static_cast<std::uint8_t>(2 * k + half);
      op.lane = i.move.pe_number;
      op.value = i.predicate.value;
      if (i.predicate.used) ops_.back().mask = mask_rows(i.predicate.mask, k);
    }
  }
}

}  // namespace gdr
