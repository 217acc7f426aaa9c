#include "emulator/engine/jit/next_uses.hpp"

namespace gdr::jit {

NextUses::NextUses(const Block& block)
    : positions_(block.values.size()), next_(block.values.size(), 0) {
  for (std::uint32_t p = 0; p < block.code.size(); ++p) {
    each_operand(block.code[p], [&](ValueId v) { note(v, p); });
  }
  const auto end = static_cast<std::uint32_t>(block.code.size());
  for (const Carried& c : block.carried) note(c.out, end);
}

void NextUses::note(ValueId v, std::uint32_t position) {
  if (positions_[v].empty() || positions_[v].back() != position) positions_[v].push_back(position);
}

}  // namespace gdr::jit
