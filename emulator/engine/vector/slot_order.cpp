#include "emulator/engine/vector/slot_order.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

/// Rows of one memory that an operand touches in one element.
struct Touch {
  Space space;
  std::uint32_t row, count;
  unsigned element;
};

void touch(const Operand& x, unsigned element, std::vector<Touch>& list) {
  const std::uint32_t count = shorts_in(x.width);
  if (x.space == Space::Register) list.push_back({Space::Register, x.at(element), count, element});
  if (x.space == Space::Local) list.push_back({Space::Local, x.at(element), count, element});
  if (x.space == Space::T) list.push_back({Space::T, element * 2 + x.address, count, element});
}

void touch_t(TTarget t, unsigned element, std::vector<Touch>& list) {
  if (t == TTarget::None) return;
  const std::uint32_t half = t == TTarget::Lower ? 1 : 0;
  list.push_back({Space::T, element * 2 + half, t == TTarget::Whole ? 2U : 1U, element});
}

bool meet(const Touch& x, const Touch& y) {
  return x.space == y.space && x.row < y.row + y.count && y.row < x.row + x.count;
}

template <class Condition>
bool any_pair(const std::vector<Touch>& x, const std::vector<Touch>& y, Condition condition) {
  return std::any_of(x.begin(), x.end(), [&](const Touch& a) {
    return std::any_of(y.begin(), y.end(),
                       [&](const Touch& b) { return meet(a, b) && condition(a, b); });
  });
}

/// True if computing the multiplier's elements in order, then the adder's (or the other way round),
/// then the transfer's, each straight into its place, gives what the rule gives: all reads before
/// all writes. The second copy of a result to T comes last in its slot, a mask last in its.
bool slots_may_follow(const Instruction& i, bool adder_first) {
  if (uses_t_address(i)) return false;
  // Under a predicate the transfer comes after the adder's mask, and reads one PE's bit at a time.
  const bool sets_mask = i.alu.mask.flag != MaskFlag::None;
  if (i.predicate.used && (i.move.op == Op::Bput || (sets_mask && i.move.used()))) return false;
  if (i.predicate.used && sets_mask && adder_first) return false;
  std::array<const Arithmetic*, 2> order{&i.mul, &i.alu};
  if (adder_first) std::swap(order[0], order[1]);
  std::array<std::vector<Touch>, 3> reads;
  std::array<std::vector<Touch>, 3> writes;
  for (unsigned slot = 0; slot < 2; ++slot) {
    const Arithmetic& op = *order[slot];
    // A copy to T or a mask is made from the rows of every element: all of them must still be
    // there.
    const bool needs_all = op.t != TTarget::None || op.mask.flag != MaskFlag::None;
    const bool one_row = op.dst.used() && !op.dst.vector && op.dst.space != Space::T;
    if (needs_all && one_row && i.vlen > 1) return false;
    for (unsigned k = 0; k < i.vlen; ++k) {
      touch(op.a, k, reads[slot]);
      touch(op.b, k, reads[slot]);
      touch(op.dst, k, writes[slot]);
      touch_t(op.t, k, writes[slot]);
    }
  }
  for (unsigned k = 0; k < i.vlen; ++k) {
    touch(i.move.pe, k, i.move.op == Op::Bput ? reads[2] : writes[2]);
  }
  const auto always = [](const Touch&, const Touch&) { return true; };
  for (unsigned earlier = 0; earlier < 3; ++earlier) {
    // Within a slot: an element must not read what an element before it wrote.
    const auto later = [](const Touch& w, const Touch& r) { return r.element > w.element; };
    if (any_pair(writes[earlier], reads[earlier], later)) return false;
    for (unsigned after = earlier + 1; after < 3; ++after) {
      if (any_pair(writes[earlier], reads[after], always)) return false;
      if (any_pair(writes[earlier], writes[after], always)) return false;
    }
  }
  return true;
}

}  // namespace

SlotOrder slot_order(const Instruction& i) {
  if (slots_may_follow(i, false)) return SlotOrder::MulFirst;
  return slots_may_follow(i, true) ? SlotOrder::AdderFirst : SlotOrder::Neither;
}

bool writes_meet(const Instruction& i) {
  std::array<std::vector<Touch>, 3> writes;
  for (unsigned k = 0; k < i.vlen; ++k) {
    touch(i.mul.dst, k, writes[0]);
    touch_t(i.mul.t, k, writes[0]);
    touch(i.alu.dst, k, writes[1]);
    touch_t(i.alu.t, k, writes[1]);
    if (i.move.op == Op::Bget) touch(i.move.pe, k, writes[2]);
  }
  const auto always = [](const Touch&, const Touch&) { return true; };
  return any_pair(writes[0], writes[1], always) || any_pair(writes[0], writes[2], always) ||
         any_pair(writes[1], writes[2], always);
}

}  // namespace gdr
