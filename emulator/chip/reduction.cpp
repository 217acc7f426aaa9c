#include "emulator/chip/reduction.hpp"

#include <vector>

#include "emulator/numeric/integer.hpp"

namespace gdr {

Long reduce_node(Reduce op, Long left, Long right, Flags& flags) noexcept {
  constexpr Width wide = Width::Long;
  switch (op) {
    case Reduce::Fadd:
      return fadd(left, right, wide, flags);
    case Reduce::Fmax:
      return fmax(left, right, wide, flags);
    case Reduce::Fmin:
      return fmin(left, right, wide, flags);
    case Reduce::Iadd:
      return {iadd(left.bits, right.bits, wide).value};
    case Reduce::Imax:
      return {imax(left.bits, right.bits, wide).value};
    case Reduce::Imin:
      return {imin(left.bits, right.bits, wide).value};
    case Reduce::Iand:
      return {left.bits & right.bits};
    case Reduce::Ior:
      return {left.bits | right.bits};
    case Reduce::Ixor:
      return {left.bits ^ right.bits};
    case Reduce::Pass:
      break;
  }
  return left;
}

Long reduce_tree(Reduce op, std::span<const Long> leaves, Flags& flags) {
  std::vector<Long> level(leaves.begin(), leaves.end());
  while (level.size() > 1) {
    const std::size_t pairs = level.size() / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      level[i] = reduce_node(op, level[2 * i], level[2 * i + 1], flags);
    }
    if (level.size() % 2 != 0) {
      level[pairs] = level.back();
      level.resize(pairs + 1);
    } else {
      level.resize(pairs);
    }
  }
  return level.front();
}

}  // namespace gdr
