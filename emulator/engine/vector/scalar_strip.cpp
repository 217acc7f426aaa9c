#include "emulator/engine/vector/scalar_strip.hpp"

#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

u128 word_of(const InputRows& rows, Width width, std::size_t lane) {
  const std::uint64_t hi = rows.hi[lane];
  return width == Width::Short ? u128{hi} : (u128{hi} << Short::bit_count) | rows.lo[lane];
}

Long float_of(u128 word, Width width) {
  return width == Width::Long ? Long{word} : widen_float(Short{static_cast<std::uint64_t>(word)});
}

struct LaneResult {
  u128 word;
  bool flag;
};

LaneResult compute_lane(const OpInfo& op, const Arithmetic& slot, u128 a, u128 b) {
  if (op.unit == Unit::Integer) {
    const IntWord x = int_operand(a, slot.a.width, slot.width, op.signed_operands);
    const IntWord y =
        int_operand(b, slot.b.width, slot.width, op.signed_operands && !op.unsigned_count);
    const IntResult r = op.compute_int(x, y, slot.width);
    const bool negative = sign_of(r.value, slot.width);
    const bool flag = slot.mask.flag == MaskFlag::Carry      ? r.carry
                      : slot.mask.flag == MaskFlag::Negative ? negative
                                                             : r.value == 0;
    return {r.value, flag};
  }
  Flags flags = no_flags;
  const Long r =
      op.compute_float(float_of(a, slot.a.width), float_of(b, slot.b.width), slot.width, flags);
  const bool flag = slot.mask.flag == MaskFlag::Negative ? is_negative(r) : is_zero(r);
  return {slot.width == Width::Long ? r.bits : u128{upper_half(r).bits}, flag};
}

}  // namespace

void scalar_strip(const Arithmetic& slot, const Strip& s, std::uint64_t* flags) {
  const OpInfo& op = info(slot.op);
  const bool two = op.operands == 2;
  for (unsigned k = 0; k < s.elements; ++k) {
    const InputRows a{s.a.hi + k * s.a.step, s.a.lo + k * s.a.step, 0};
    const InputRows b{s.b.hi + k * s.b.step, s.b.lo + k * s.b.step, 0};
    for (std::size_t pe = 0; pe < s.pes; ++pe) {
      const LaneResult r = compute_lane(op, slot, word_of(a, slot.a.width, pe),
                                        two ? word_of(b, slot.b.width, pe) : 0);
      const std::size_t to = k * s.out.step + pe;
      if (slot.width == Width::Long) {
        s.out.hi[to] = static_cast<std::uint64_t>(r.word >> Short::bit_count);
        s.out.lo[to] = static_cast<std::uint64_t>(r.word) & Short::mask;
      } else {
        s.out.hi[to] = static_cast<std::uint64_t>(r.word);
      }
      if (flags != nullptr) flags[k * s.pes + pe] = r.flag ? ~std::uint64_t{0} : 0;
    }
  }
}

}  // namespace gdr
