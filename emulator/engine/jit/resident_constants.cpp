#include "emulator/engine/jit/resident_constants.hpp"

#include <algorithm>

namespace gdr::jit {

std::vector<ValueId> constants_by_uses(const Block& block,
                                       const std::function<bool(Place)>& is_constant) {
  std::vector<std::size_t> uses(block.values.size(), 0);
  for (const Operation& o : block.code) {
    const std::size_t operands = o.op == Op::Fma ? 2 : o.in.size();
    for (std::size_t n = 0; n < operands; ++n)
      if (o.in[n] != no_value) ++uses[o.in[n]];
  }
  std::vector<ValueId> found;
  for (ValueId v = 0; v < block.values.size(); ++v)
    if (block.values[v].in_memory && uses[v] != 0 && is_constant(block.values[v].place))
      found.push_back(v);
  std::ranges::stable_sort(found, std::ranges::greater{}, [&](ValueId v) { return uses[v]; });
  return found;
}

Block with_resident(Block block, const std::vector<ValueId>& constants, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    const ValueId v = constants[n];
    block.carried.push_back({v, v, block.values[v].place, true});
  }
  return block;
}

}  // namespace gdr::jit
