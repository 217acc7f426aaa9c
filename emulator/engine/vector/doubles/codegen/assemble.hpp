// Machine code for a trace.
#pragma once

#include <memory>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/doubles/op.hpp"

namespace gdr::codegen {

/// One operation that is equivalent to the traced ones.
struct CompiledOperation {
  DoublesKernel kernel = nullptr;  ///< null: this host cannot have it
  std::uint32_t scratch_bytes = 0;
  std::shared_ptr<const void> owner;  ///< owner of the code
};

/// Code for AVX-512 or AVX2, for rows of `lanes`; its scratch is in the frame from `scratch` on, at
/// a multiple of 64 bytes.
CompiledOperation assemble(const Trace& trace, Isa isa, std::uint32_t lanes, std::uint32_t scratch);

}  // namespace gdr::codegen
