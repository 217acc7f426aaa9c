// Without a code generator operations are not compiled.
#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

CompiledOperation assemble(const Trace&, Isa, std::uint32_t, std::uint32_t) { return {}; }

}  // namespace gdr::codegen
