// A straight piece of code: steps of one level, several vectors of lanes side by side.
#pragma once

#include <xbyak/xbyak.h>

#include <map>
#include <vector>

#include "emulator/engine/vector/doubles/fused/recording.hpp"
#include "emulator/engine/jit/registers.hpp"

namespace gdr::fused {

/// A step's value in one of the copies.
using Value = std::uint32_t;
using jit::RegisterFile;

/// Where a value can be found again when it is in no register.
struct Home {
  enum class Kind : std::uint8_t { None, Row, Slot, Constant } kind = Kind::None;
  std::uint32_t number = 0;  ///< of a slot or constant
};

/// What the pieces of a function have in common.
struct Function {
  Function(Xbyak::CodeGenerator& generator, const Recording& r, unsigned copy_count);

  Xbyak::CodeGenerator& a;
  const Recording& recording;
  unsigned copies;
  std::vector<Home> homes;  ///< by value
  std::vector<std::uint64_t> constants;
  std::uint32_t slots = 0;  ///< vectors of scratch
  std::vector<bool> kept;   ///< by step: needed by a later piece, from a slot

  // Registers with a fixed meaning.
  Xbyak::Reg64 op = a.rdi, run = a.rsi, word = a.rdx;
  Xbyak::Reg64 element = a.rax, lanes = a.r8;  ///< rows at the element and vector at hand
  Xbyak::Reg64 scratch = a.r10, pool = a.r11;
  Xbyak::Opmask found[2] = {a.k6, a.k7};  ///< notes: has_tail, inexact

  Level level(Value v) const { return recording.steps[step_of(v)].level; }
  StepId step_of(Value v) const { return v / copies; }
  unsigned copy_of(Value v) const { return v % copies; }
  Value value(StepId step, unsigned copy) const {
    return step * copies + (recording.steps[step].level == Level::Pass ? 0 : copy);
  }
};

/// Emits one piece. Values of other pieces are where their homes say.
class Block {
 public:
  /// One thing to be done: a step, or a store.
  struct Item {
    StepId step = no_step;  ///< no step: `store`
    const RowStore* store = nullptr;
    unsigned copy = 0;
  };

  Block(Function& function, std::vector<Item> items);
  void emit();

 private:
  static constexpr unsigned vectors = 32, first_mask = 1, masks = 6;

  const Step& step(Value v) const { return f_.recording.steps[f_.step_of(v)]; }
  bool is_mask(Value v) const { return makes_mask(step(v).kind); }
  RegisterFile& file(Value v) { return is_mask(v) ? masks_ : vectors_; }
  std::uint32_t next_use(Value v) const {
    return use_at_[v] < uses_[v].size() ? uses_[v][use_at_[v]] : RegisterFile::never;
  }
  bool is_dead(Value v) const { return next_use(v) == RegisterFile::never; }

  // --- values
  void index_uses();
  int allocate(Value v);
  void make_room(Value evicted);
  void load(Value v, int r);
  Xbyak::Address place(Value v) const;
  Xbyak::Zmm vector(Value v);
  Xbyak::Opmask mask(Value v);
  /// In a register, or where it is in memory; words of the constants' pool as broadcasts.
  struct Place {
    int number = RegisterFile::none;
    Xbyak::Address address;
  };
  Place anywhere(Value v);
  template <class Emit>
  void with(const Place& p, Emit emit) const;
  Xbyak::Zmm result(Value v);
  Xbyak::Zmm fresh(Value v);
  Xbyak::Opmask mask_result(Value v);
  Xbyak::Zmm result_over(Value v, Value old);
  void release(Value v);
  std::uint32_t take_slot();

  // --- steps
  void run(const Item& item);
  void compute(Value v);
  void sum_or_product(Value v);
  void multiply_add(Value v);
  void bitwise(Value v);
  void masked(Value v);
  void compare(Value v);
  void combine_masks(Value v);
  void shift(Value v);
  void store(const Item& item);
  Value in(Value v, unsigned n) const { return f_.value(step(v).in[n], f_.copy_of(v)); }

  Function& f_;
  Xbyak::CodeGenerator& a_;
  std::vector<Item> items_;
  RegisterFile vectors_, masks_;
  std::vector<std::vector<std::uint32_t>> uses_;  ///< by value: positions
  std::vector<std::size_t> use_at_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<bool> own_slot_;  ///< by value: its slot is free when it is dead
};

}  // namespace gdr::fused
