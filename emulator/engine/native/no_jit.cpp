// Built where there is no code generator for the host: kernels run on the portable path.
#include "emulator/engine/native/code.hpp"

namespace gdr::native {

CompiledKernel compile_kernel(const CodeContext&, std::uint32_t) {
  throw Unsupported("this build has no code generator (xbyak)");
}

}  // namespace gdr::native
