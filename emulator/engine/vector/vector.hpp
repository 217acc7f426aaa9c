// The vector engine: exact numerics over all PEs with the host's SIMD units.
#pragma once

#include <memory>
#include <utility>

#include "emulator/engine/api/engine.hpp"

namespace gdr {

/// Whether the vector engine computes floats in verified host doubles instead of integers: the
/// instruction set is sufficient and this host's exception flags work.
bool can_verify_doubles(Isa isa);

class MatmulDevice;
class LoopDevice;

class VectorEngine final : public Engine {
 public:
  /// The host must have the instruction set (see host_isas()). With `jit`, operations in doubles
  /// run as machine code generated for the program (AVX-512 and AVX2).
  explicit VectorEngine(Isa isa, bool jit = true) : isa_(isa), jit_(jit) {}
  /// The engine "gpu-exact": passes of many blocks run on the device, where all steps are exact
  /// there, and matrix products on the other one, if it is not null. `isa`: at most AVX2, whose
  /// steps the device executes.
  VectorEngine(Isa isa, bool jit, std::shared_ptr<LoopDevice> device,
               std::shared_ptr<MatmulDevice> matmul_device)
      : isa_(isa),
        jit_(jit),
        device_(std::move(device)),
        matmul_device_(std::move(matmul_device)) {}
  std::string_view name() const noexcept override { return device_ ? "gpu-exact" : "vector"; }
  Isa isa() const noexcept override { return isa_; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;

 private:
  Isa isa_;
  bool jit_;
  std::shared_ptr<LoopDevice> device_;
  std::shared_ptr<MatmulDevice> matmul_device_;
};

}  // namespace gdr
