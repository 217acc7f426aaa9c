// Kernels of the native engine through asmjit's Compiler: virtual registers, its own allocator.
#pragma once

#include "emulator/engine/native/code.hpp"

namespace gdr::bench {

/// What is left to asmjit's register allocator.
struct AsmjitPolicy {
  /// Operations for which a constant or a word of memory stays in a virtual register after a use.
  unsigned keep = 16;
  bool hoist = false;         ///< whatever a loop does not change is loaded before it
  bool all_resident = false;  ///< all carried values are virtual registers, not only some
};

/// As native::compile_kernel. Throws Unsupported with asmjit's message.
native::CompiledKernel compile_with_asmjit(const native::KernelCode& code, native::Target target,
                                           const native::WordTable& source_words,
                                           const native::WordTable& uniform_words,
                                           const AsmjitPolicy& policy);

}  // namespace gdr::bench
