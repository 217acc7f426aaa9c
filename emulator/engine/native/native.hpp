// The native engine: fast numerics. Programs are compiled for this host's vector units, on doubles
// or floats; unsupported sections run on the vector engine and report the reason.
#pragma once

#include <memory>
#include <utility>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/native/lower.hpp"

namespace gdr {

struct Gpu;

class NativeEngine final : public Engine {
 public:
  /// The host must have the instruction set (see host_isas()).
  explicit NativeEngine(Isa isa, native::Precision precision = native::Precision::Double,
                        native::FloatMode mode = native::FloatMode::Plain)
      : target_{isa, precision, mode, false} {}
  /// The loops over sources run on a GPU, what it cannot do or is too small for it on the host.
  NativeEngine(Isa isa, native::Precision precision, std::shared_ptr<Gpu> gpu)
      : target_{isa, precision, native::FloatMode::Plain, false}, gpu_(std::move(gpu)) {}
  std::string_view name() const noexcept override;
  Isa isa() const noexcept override { return target_.isa; }
  bool exact() const noexcept override { return false; }
  bool multiplies_all_bits() const noexcept override;
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;

 private:
  native::Target target_;  ///< of the host
  std::shared_ptr<Gpu> gpu_;
};

}  // namespace gdr
