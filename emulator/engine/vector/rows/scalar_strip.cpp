// Lanes that no strip kernel computes, through the scalar arithmetic of numeric/.
#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/vector/rows/plan.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

u128 word_of(const InputRows& rows, Width width, std::size_t lane) {
  const std::uint64_t hi = rows.hi[lane];
  return width == Width::Short ? u128{hi} : (u128{hi} << Short::bit_count) | rows.lo[lane];
}

}  // namespace

void scalar_strip(const Arithmetic& slot, const Strip& s, std::uint64_t* flags) {
  const bool two = info(slot.op).operands == 2;
  Flags ignored = no_flags;
  for (unsigned k = 0; k < s.elements; ++k) {
    const InputRows a{s.a.hi + k * s.a.step, s.a.lo + k * s.a.step, 0};
    const InputRows b{s.b.hi + k * s.b.step, s.b.lo + k * s.b.step, 0};
    for (std::size_t pe = 0; pe < s.pes; ++pe) {
      const LaneResult r = compute_lane(slot, word_of(a, slot.a.width, pe),
                                        two ? word_of(b, slot.b.width, pe) : 0, ignored);
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
