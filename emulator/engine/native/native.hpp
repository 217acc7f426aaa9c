// The native engine: fast numerics. Programs are compiled for this host's vector units, on doubles
// or floats; unsupported sections run on an exact engine and report the reason.
#pragma once

#include <memory>
#include <utility>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr {

class MatmulDevice;

class NativeEngine final : public Engine {
 public:
  /// The host must have the instruction set (see host_isas()). `exact`: executes what cannot be
  /// compiled.
  NativeEngine(Isa isa, native::Precision precision, native::FloatMode mode,
               std::shared_ptr<const Engine> exact);
  /// The loops over sources run on GPUs of one kind, which share the targets, and matrix products
  /// on the first of them; what they cannot do or is too small for them on the host.
  NativeEngine(Isa isa, native::Precision precision, Gpus gpus,
               std::shared_ptr<const Engine> exact);
  std::string_view name() const noexcept override;
  Isa isa() const noexcept override { return target_.isa; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;

 private:
  native::Target target_;  ///< instruction set of the host, with the precision
  Gpus gpus_;
  std::shared_ptr<const Engine> exact_;
  std::shared_ptr<MatmulDevice> matmul_device_;
};

}  // namespace gdr
