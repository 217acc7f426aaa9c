// For builds without a code generator: kernels run on the portable path.
#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

CompiledKernel compile_kernel(const CodeContext&, std::uint32_t) {
  throw Unsupported("this build has no code generator (xbyak)");
}

}  // namespace gdr::native
