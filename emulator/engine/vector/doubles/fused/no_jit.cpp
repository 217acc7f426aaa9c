// Without a code generator operations stay as they are.
#include "emulator/engine/vector/doubles/fused/assemble.hpp"

namespace gdr::fused {

FusedOperation assemble(const Recording&, Isa, std::uint32_t, std::uint32_t) { return {}; }

}  // namespace gdr::fused
