// The translation of a section: the states of its words and the operations on their rows.
#pragma once

#include <optional>
#include <string>

#include "emulator/engine/vector/doubles/row_emitter.hpp"

namespace gdr {

/// Operand of an operation.
struct Source {
  Form form = Form::Short;
  RowSpan rows = no_rows;
  bool plus_zero = false;  ///< a long that is never -0
};

/// The words of a section: their forms, reads and writes.
class WordTranslator : public RowEmitter {
 protected:
  WordTranslator(const WordUses& uses, const Geometry& geometry, const DoublesKernels& kernels,
                 bool heads, const std::vector<WordState>& entry)
      : RowEmitter(geometry, kernels),
        uses_(uses),
        heads_(heads),
        entry_(entry),
        words_(entry),
        imported_(numbers_.count()),
        written_(numbers_.count()) {}

  bool imports(std::uint32_t w) const { return imported_[w][0] || imported_[w][1]; }

  // --- words

  void need(std::uint32_t w, unsigned half) {
    if (!words_[w].defined[half]) imported_[w][half] = true;
  }

  /// Converts a word to a form. Its previous rows are not changed.
  void convert(std::uint32_t w, Rep rep) {
    WordState& word = words_[w];
    if (word.rep == rep) return;
    need(w, 0);
    need(w, 1);
    const RowSpan pair = long_rows(w, 0);
    const RowSpan upper = short_rows({w, 0}, 0);
    const RowSpan shorts{upper.lanes, short_rows({w, 1}, 0).lanes, true, 0};
    if (rep == Rep::Shorts) {
      emit(kernels_.split[word.head ? 0 : 1], 1, shorts, pair);
    } else {
      for (unsigned half = 0; half < 2; ++half) check_number(w, half);
      emit(kernels_.join, 1, pair, shorts);
    }
    word.rep = rep;
    word.head = word.plus_zero = false;
    word.floats[0] = word.floats[1] = false;
  }

  /// Emits a check of a short whose bits are used afterwards: an infinity or NaN may be inexact.
  void check_number(std::uint32_t w, unsigned half) {
    if (!words_[w].floats[half]) return;
    emit_check(1, short_rows({w, half}, 0));
    words_[w].floats[half] = false;
  }

  // --- operands

  /// Rows of a location in a form, converted if necessary.
  Source read_location(const Operand& x, unsigned elements, Rep rep, bool low_half = false) {
    const bool by_element = x.space == Space::T || x.vector;
    const WordHalf at = word_of(numbers_, x, 0);
    bool tails = false, plus_zero = rep == Rep::Long;
    for (unsigned k = 0; k < (by_element ? elements : 1); ++k) {
      const WordHalf h = word_of(numbers_, x, k);
      convert(h.word, rep);
      if (x.width == Width::Long) {
        need(h.word, 0);
        need(h.word, 1);
      } else {
        need(h.word, h.half);
      }
      tails = tails || (rep == Rep::Long && !words_[h.word].head);
      plus_zero = plus_zero && words_[h.word].plus_zero;
    }
    if (rep == Rep::Shorts) {
      if (!low_half) return {Form::Short, short_rows(at, by_element ? 1 : 0)};
      // The distance of words is two rows, in T one.
      const unsigned stride = x.space == Space::T ? 1 : 2;
      return {Form::Short, short_rows({at.word, 1}, by_element ? stride : 0)};
    }
    return {tails ? Form::Pair : Form::Head, long_rows(at.word, by_element ? 1 : 0), plus_zero};
  }

  Source read_float(const Arithmetic& slot, const Operand& x, unsigned elements) {
    switch (x.space) {
      case Space::Register:
      case Space::Local:
      case Space::T:
        return read_location(x, elements, x.width == Width::Long ? Rep::Long : Rep::Shorts);
      case Space::Immediate:
        return x.width == Width::Short
                   ? Source{Form::Short,
                            constant(static_cast<std::uint64_t>(slot.immediate.bits) << 28)}
                   : long_constant(slot.immediate);
      default:
        throw Untranslatable{"a float operand that is neither a location nor a constant"};
    }
  }

  /// `what`: the kind of constant, for the message.
  Source long_constant(Long word, const std::string& what = "a long constant") {
    const auto head = static_cast<std::uint64_t>(word.bits >> 8);
    const auto low = static_cast<std::uint64_t>(word.bits) & 255;
    const std::uint64_t field = head & short_field;
    const bool dirty = field == 0 && ((head << 12) | low) != 0;
    if (field == short_field || dirty)
      throw Untranslatable{what + " whose bits are no finite number"};
    const std::optional<std::uint64_t> tail = tail_of(head, low);
    if (!tail) throw Untranslatable{what + " whose last bits are below the doubles"};
    const bool plus_zero = head != std::uint64_t{1} << 63;
    return {low == 0 ? Form::Head : Form::Pair, constant(head, *tail), plus_zero};
  }

  Source read_short(const Arithmetic& slot, const Operand& x, unsigned elements) {
    switch (x.space) {
      case Space::Register:
      case Space::Local:
      case Space::T:
        return read_location(x, elements, Rep::Shorts, x.width == Width::Long);
      case Space::Immediate:
        return {Form::Short, constant(static_cast<std::uint64_t>(slot.immediate.bits) << 28)};
      case Space::PeNumber:
        return {Form::Short, constant(0, ConstantRow::Kind::PeNumber)};
      case Space::BlockNumber:
        return {Form::Short, constant(0, ConstantRow::Kind::BlockNumber)};
      default:
        throw Untranslatable{"an operand addressed by T"};
    }
  }

  /// Whether an operand's shorts may be float results whose infinities and NaN are inexact.
  bool may_be_float(const Operand& x, unsigned elements) const {
    return any_half(x, elements, [&](WordHalf h) { return words_[h.word].floats[h.half]; });
  }
  template <class Test>
  bool any_half(const Operand& x, unsigned elements, Test test) const {
    if (x.space != Space::Register && x.space != Space::Local && x.space != Space::T) return false;
    for (unsigned k = 0; k < elements; ++k) {
      WordHalf h = word_of(numbers_, x, k);
      if (x.width == Width::Long) h.half = 1;
      if (test(h)) return true;
    }
    return false;
  }

  void check_numbers(const Operand& x, unsigned elements, const Source& source) {
    if (!may_be_float(x, elements)) return;
    emit_check(source.rows.stride == 0 ? 1 : elements, source.rows);
    mark_number(x, elements);
  }
  void mark_number(const Operand& x, unsigned elements) {
    any_half(x, elements, [&](WordHalf h) {
      words_[h.word].floats[h.half] = false;
      return false;
    });
  }

  // --- destinations

  /// Properties of a result.
  struct Result {
    Rep rep = Rep::Shorts;
    bool head = false;
    bool is_float = false;
    bool plus_zero = false;
  };

  /// Records a write to a word or half of it. `keep`: only under a mask.
  void write_word(WordHalf h, Width width, const Result& r, bool keep) {
    WordState& word = words_[h.word];
    const bool whole = width == Width::Long;
    if (keep || (!whole && uses_.lives({h.word, 1 - h.half}, number_))) convert(h.word, r.rep);
    word.rep = r.rep;
    word.head = r.rep == Rep::Long && r.head && (!keep || word.head);
    word.plus_zero = r.rep == Rep::Long && r.plus_zero && (!keep || word.plus_zero);
    for (unsigned half = 0; half < 2; ++half) {
      if (!whole && half != h.half) continue;
      if (keep) need(h.word, half);
      const bool before = keep && word.floats[half];
      word.floats[half] = r.rep == Rep::Shorts && (r.is_float || before);
      word.defined[half] = word.defined[half] || !keep;
      written_[h.word][half] = true;
    }
  }

  RowSpan write_location(const Operand& x, unsigned elements, const Result& r, bool keep) {
    const unsigned stride = x.space == Space::T || x.vector ? 1 : 0;
    for (unsigned k = 0; k < elements; ++k) {
      write_word(word_of(numbers_, x, k), x.width, r, keep);
    }
    const WordHalf at = word_of(numbers_, x, 0);
    return r.rep == Rep::Long ? long_rows(at.word, stride) : short_rows(at, stride);
  }

  /// Converts carried words to the form that the next iteration expects.
  void restore_forms() {
    for (std::uint32_t w = 0; w < words_.size(); ++w) {
      if (imports(w) && words_[w].rep != entry_[w].rep) convert(w, entry_[w].rep);
    }
  }

 public:
  /// True if the states at the end equal those at the beginning; else weakens `entry`.
  bool settled(std::vector<WordState>& entry) const {
    bool equal = true;
    for (std::uint32_t w = 0; w < words_.size(); ++w) {
      if (!imports(w)) continue;
      WordState& e = entry[w];
      const WordState& now = words_[w];
      const WordState before = e;
      if (e.rep == Rep::Long) {
        e.head = e.head && now.head;
        e.plus_zero = e.plus_zero && now.plus_zero;
      }
      for (unsigned half = 0; half < 2; ++half) {
        e.floats[half] = e.floats[half] || (e.rep == Rep::Shorts && now.floats[half]);
      }
      equal = equal && e == before;
    }
    return equal;
  }

 protected:
  const WordUses& uses_;
  bool heads_;
  const std::vector<WordState>& entry_;  ///< assumed states at the beginning of an iteration
  std::vector<WordState> words_;
  Halves imported_, written_;
};

/// Initial assumption: the forms that the section uses first, and the strongest properties.
inline std::vector<WordState> first_entry(const WordUses& uses, const WordNumbers& numbers,
                                          bool heads) {
  std::vector<WordState> entry(numbers.count());
  for (std::uint32_t w = 0; w < numbers.count(); ++w) {
    entry[w].rep = uses.first(w);
    entry[w].head = entry[w].plus_zero = entry[w].rep == Rep::Long && heads;
  }
  return entry;
}

}  // namespace gdr
