#include "emulator/engine/jit/allocate.hpp"

#include <utility>

#include "emulator/engine/jit/value_places.hpp"

namespace gdr::jit {
namespace {

/// Chooses the instructions of a block's operations, and which operands are in memory.
class Allocator {
 public:
  Allocator(const Block& block, VectorTarget target, RegisterLimits limits, SpillArea& spills)
      : block_(block), target_(target), places_(block, target, limits, spills, out_) {}

  AllocatedBlock run() {
    AllocatedBlock made;
    places_.enter_loop();
    made.before = std::exchange(out_, {});
    for (std::uint32_t n = 0; n < block_.code.size(); ++n) {
      places_.begin(block_.code[n], n);
      choose(block_.code[n]);
      places_.end(block_.code[n]);
    }
    places_.restore_carried();
    made.body = std::move(out_);
    made.after = places_.leave_loop();
    return made;
  }

 private:
  void choose(const Operation& o) {
    Instruction i;
    i.op = o.op;
    i.detail = o.detail;
    i.rounding = o.rounding;
    if (o.mask != no_value) {
      i.mask = static_cast<std::int8_t>(places_.in_any_register(o.mask).number);
      i.zeroing = o.otherwise == no_value && places_.value(o.to).type == Type::Vector;
    }
    switch (o.op) {
      case Op::Load:
        i.a = places_.memory(o.place);
        i.to = places_.define(o);
        break;
      case Op::Store:
        i.a = places_.in_any_register(o.in[0]);
        i.to = places_.memory(o.place);
        break;
      case Op::Fma:
        multiply_add(o, i);
        break;
      case Op::Ternary:
        i.b = places_.in_any_register(o.in[1]);
        i.c = places_.anywhere(o.in[2]);
        i.to = places_.define_over(o, o.in[0]);
        break;
      case Op::Select:
        i.a = places_.in_any_register(o.in[0]);
        i.c = places_.in_any_register(o.in[2]);
        i.b = places_.anywhere(o.in[1]);
        i.to = places_.define(o);
        break;
      case Op::Collect:
      case Op::Leave:
        i.a = places_.in_any_register(o.in[0]);
        break;
      case Op::Gather:
        i.a = places_.in_any_register(o.in[0]);
        i.b = places_.memory(o.place);
        i.to = places_.define_apart(o);  // not the register of the numbers
        break;
      case Op::Append:
        // The entry is rarely needed.
        i.a = places_.in_any_register(o.in[0]);
        i.b = places_.in_register(o.in[1]) ? places_.in_any_register(o.in[1])
                                           : places_.memory(places_.place_of(o.in[1]));
        i.to = places_.memory(o.place);
        break;
      default:
        plain(o, i);
    }
    out_.push_back(i);
  }

  void plain(const Operation& o, Instruction& i) {
    ValueId first = o.in[0], second = o.in[1];
    if (second == no_value) {
      const bool shift = o.op >= Op::ShiftLeft && o.op <= Op::ShiftArith;
      const bool memory_too = places_.value(first).type == Type::Vector &&
                              o.op != Op::LanesToMask && o.op != Op::NotFinite &&
                              o.rounding == Rounding::Current &&
                              (target_.memory == MemoryOperands::Broadcasts || !shift);
      i.a = memory_too ? places_.anywhere(first) : places_.in_any_register(first);
      i.to = places_.define(o);
      return;
    }
    if (commutes(o.op) && !places_.in_register(first)) std::swap(first, second);
    i.a = places_.in_any_register(first);
    const bool memory_too = o.rounding == Rounding::Current && !places_.in_mask_file(second);
    i.b = memory_too ? places_.anywhere(second) : places_.in_any_register(second);
    i.to = o.otherwise == no_value ? places_.define(o) : places_.define_over(o, o.otherwise);
  }

  /// Overwrites the addend if it dies, else a factor that dies if the host can. One operand may be
  /// in memory.
  void multiply_add(const Operation& o, Instruction& i) {
    ValueId x = o.in[0], y = o.in[1];
    const ValueId z = o.in[2];
    const bool rounded = o.rounding != Rounding::Current;
    const auto last = [&](ValueId v) {
      return rounded ? places_.in_any_register(v) : places_.anywhere(v);
    };
    if (!target_.fma_replaces_any || places_.dies(z) || o.otherwise != no_value) {
      if (!places_.in_register(x)) std::swap(x, y);
      i.a = places_.in_any_register(x);
      i.b = last(y);
      // The change of its sign is a copy.
      const bool negated = !target_.fma_replaces_any && (o.detail & negate_addend) != 0;
      if (negated && places_.in_register(z) && !places_.dies(z)) {
        i.c = places_.in_any_register(z);
        i.to = places_.define_apart(o);
        return;
      }
      i.to = places_.define_over(o, z);
      return;
    }
    if (!places_.dies(x)) std::swap(x, y);
    if (places_.dies(x)) {
      if (rounded || places_.in_register(y) || !places_.in_register(z)) {
        i.form = FmaForm::Form213;
        i.a = places_.in_any_register(y);
        i.b = last(z);
      } else {
        i.form = FmaForm::Form132;
        i.b = places_.anywhere(y);
        i.a = places_.in_any_register(z);
      }
      i.to = places_.define_over(o, x);
      return;
    }
    // Nothing dies: the result begins as a copy, if possible of an operand that must be loaded
    // anyway.
    if (places_.in_register(z) && !places_.in_register(x)) std::swap(x, y);
    if (places_.in_register(z) && !places_.in_register(y)) {
      i.form = FmaForm::Form213;
      i.a = places_.in_any_register(x);
      i.b = last(z);
      i.to = places_.define_over(o, y);
      return;
    }
    if (!places_.in_register(x)) std::swap(x, y);
    i.a = places_.in_any_register(x);
    i.b = last(y);
    i.to = places_.define_over(o, z);
  }

  const Block& block_;
  const VectorTarget target_;
  std::vector<Instruction> out_;
  ValuePlaces places_;
};

}  // namespace

AllocatedBlock allocate(const Block& block, VectorTarget target, RegisterLimits limits,
                        SpillArea& spills) {
  return Allocator(block, target, limits, spills).run();
}

}  // namespace gdr::jit
