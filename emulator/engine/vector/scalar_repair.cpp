#include "emulator/engine/vector/scalar_repair.hpp"

#include "emulator/numeric/float.hpp"

namespace gdr {

void repair_lane(FloatOp op, bool long_result, std::uint64_t a_hi, std::uint64_t a_lo,
                 std::uint64_t b_hi, std::uint64_t b_lo, std::uint64_t* out_hi,
                 std::uint64_t* out_lo) noexcept {
  const Width out = long_result ? Width::Long : Width::Short;
  const Long a = join(Short{a_hi}, Short{a_lo});
  const Long b = join(Short{b_hi}, Short{b_lo});
  Flags flags = no_flags;
  Long r;
  switch (op) {
    case FloatOp::Add:
      r = fadd(a, b, out, flags);
      break;
    case FloatOp::Sub:
      r = fsub(a, b, out, flags);
      break;
    case FloatOp::Mul:
      r = fmul(a, b, out, flags);
      break;
    case FloatOp::Dmul:
      r = dmul(a, b, out, flags);
      break;
    case FloatOp::Cvt:
      r = fcvt(a, out, flags);
      break;
  }
  *out_hi = upper_half(r).bits;
  if (long_result) *out_lo = lower_half(r).bits;
}

}  // namespace gdr
