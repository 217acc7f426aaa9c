// Lanes that a strip kernel does not compute, through the scalar arithmetic of numeric/.
#include "emulator/engine/lanes/strip.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {

void repair_lane(FloatOp op, bool long_result, std::uint64_t a_hi, std::uint64_t a_lo,
                 std::uint64_t b_hi, std::uint64_t b_lo, std::uint64_t* out_hi,
                 std::uint64_t* out_lo) noexcept {
  static constexpr Op ops[] = {Op::Fadd, Op::Fsub, Op::Fmul, Op::Dmul, Op::Fcvt};
  Flags ignored = no_flags;
  const Long r = info(ops[static_cast<unsigned>(op)])
                     .compute_float(join(Short{a_hi}, Short{a_lo}), join(Short{b_hi}, Short{b_lo}),
                                    long_result ? Width::Long : Width::Short, ignored);
  *out_hi = upper_half(r).bits;
  if (long_result) *out_lo = lower_half(r).bits;
}

}  // namespace gdr
