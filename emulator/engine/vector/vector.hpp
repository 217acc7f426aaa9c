// The vector engine: the same bits, over all PEs at once with the host's SIMD units.
#pragma once

#include "emulator/engine/engine.hpp"

namespace gdr {

/// Whether the vector engine computes floats in host doubles and proves them exact, instead of on
/// integers: the instruction set has what it takes, and this host's exception flags hold.
bool proves_doubles(Isa isa);

class VectorEngine final : public Engine {
 public:
  /// The host must have the instruction set (see host_isas()). With `fuse`, what is computed in
  /// doubles runs in machine code made for the program, where the instruction set is AVX-512.
  explicit VectorEngine(Isa isa, bool fuse = true) : isa_(isa), fuse_(fuse) {}
  std::string_view name() const noexcept override { return "vector"; }
  Isa isa() const noexcept override { return isa_; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;

 private:
  Isa isa_;
  bool fuse_;
};

}  // namespace gdr
