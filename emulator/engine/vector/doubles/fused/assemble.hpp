// Machine code for recorded steps.
#pragma once

#include <memory>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/fused/recording.hpp"
#include "emulator/engine/vector/doubles/op.hpp"

namespace gdr::fused {

/// One operation that does what the recorded ones did.
struct FusedOperation {
  DoublesKernel kernel = nullptr;  ///< null: this host cannot have it
  std::uint32_t scratch_bytes = 0;
  std::shared_ptr<const void> owner;  ///< of the code
};

/// Code for AVX-512 or AVX2, for rows of `lanes`; its scratch is in the frame from `scratch` on, at
/// a multiple of 64 bytes.
FusedOperation assemble(const Recording& recording, Isa isa, std::uint32_t lanes,
                        std::uint32_t scratch);

}  // namespace gdr::fused
