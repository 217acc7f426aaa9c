// The machine's state to rows of doubles before a run, and back after it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/lanes/doubles/rows.hpp"
#include "emulator/engine/lanes/doubles/words.hpp"

namespace gdr::doubles {

/// Imports and exports of the words of all PEs.
template <class H>
struct State {
  using D = typename H::D;

  /// Calls work(rows) for the rows of each word.
  template <class Work>
  GDR_INLINE static std::uint64_t for_each_word(StateRows rows, Work work) {
    std::uint64_t failure = 0;
    for (std::uint32_t n = rows.count; n > 0; --n) {
      failure |= work(rows);
      rows.hi += rows.state_step;
      rows.lo += rows.state_step;
      rows.lanes += rows.frame_step;
      rows.tail += rows.frame_step;
    }
    return failure;
  }

  template <Form F>
  static std::uint64_t import(const StateRows& words) {
    return for_each_word(words, [](const StateRows& rows) GDR_INLINE {
      std::uint64_t failure = 0;
      for (std::size_t i = 0; i < rows.padded; i += H::width) {
        const std::size_t left = rows.pes > i ? rows.pes - i : 0;
        const D hi = H::load_some(rows.hi + i, left, rows.hi[0]);
        Numbers<H> x{H::template shl<28>(hi), H::set(0)};
        if constexpr (F != Form::Short) {
          x = Words<H>::template pair_of<F == Form::Pair>(
              hi, H::load_some(rows.lo + i, left, rows.lo[0]), failure);
        }
        if (rows.plus_zero &&
            H::template any<has_tail>(H::bits_equal(x.h, H::set_bits(H::sign))) != 0) {
          failure |= has_tail;
        }
        H::store(rows.lanes + i, x.h);
        if constexpr (F != Form::Short) H::store(rows.tail + i, x.t);
      }
      return failure;
    });
  }

  template <Form F, bool Checked = false>
  static std::uint64_t export_(const StateRows& words) {
    return for_each_word(words, [](const StateRows& rows) GDR_INLINE {
      std::uint64_t failure = 0;
      for (std::size_t i = 0; i < rows.pes; i += H::width) {
        const D h = H::load(rows.lanes + i);
        if (Checked && H::template any<inexact>(H::beyond(h)) != 0) failure = inexact;
        D hi = H::template shr<28>(h), lo = H::set(0);
        if constexpr (F != Form::Short) {
          Words<H>::shorts_of({h, F == Form::Pair ? H::load(rows.tail + i) : H::set(0)}, hi, lo,
                              failure);
          H::store_some(rows.lo + i, rows.pes - i, lo);
        }
        H::store_some(rows.hi + i, rows.pes - i, hi);
      }
      return failure;
    });
  }

  static std::uint64_t check_result(const StateRows& words) {
    return for_each_word(words, [](const StateRows& rows) GDR_INLINE {
      std::uint64_t failure = 0;
      for (std::size_t i = 0; i < rows.pes; i += H::width) {
        if (H::template any<inexact>(H::beyond(H::load(rows.lanes + i))) != 0) failure = inexact;
      }
      return failure;
    });
  }

  template <Form F>
  static constexpr void set_form(DoublesKernels& k) {
    k.import[static_cast<unsigned>(F)] = import <F>;
    k.export_[static_cast<unsigned>(F)] = export_<F>;
  }

  static constexpr void set(DoublesKernels& k) {
    for_each_form([&]<Form F>() { set_form<F>(k); });
    k.check_result = check_result;
    k.export_result = export_<Form::Short, true>;
  }
};

}  // namespace gdr::doubles
