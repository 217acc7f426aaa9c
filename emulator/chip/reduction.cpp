#include "emulator/chip/reduction.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "emulator/isa/table.hpp"

namespace gdr {

Long reduce_node(Reduce op, Long left, Long right, Flags& flags) noexcept {
  // In the order of Reduce.
  constexpr std::array operations{Op::None, Op::Fadd, Op::Fmax, Op::Fmin, Op::Iadd,
                                  Op::Imax, Op::Imin, Op::Iand, Op::Ior,  Op::Ixor};
  const OpInfo& row = info(operations[static_cast<std::size_t>(op)]);
  if (row.op == Op::None) return left;
  if (row.compute_float != nullptr) return row.compute_float(left, right, Width::Long, flags);
  return {row.compute_int(left.bits, right.bits, Width::Long).value};
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

Long reduce_index(Reduce key, std::span<const Long> keys, std::span<const Long> leaves) {
  Flags ignored = no_flags;
  const Long best = reduce_tree(key, keys, ignored);
  Long least{Long::mask};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const bool equal = keys[k].bits == best.bits || (is_zero(keys[k]) && is_zero(best));
    if (equal && leaves[k].bits < least.bits) least = leaves[k];
  }
  return least;
}

}  // namespace gdr
