// The reference engine: one PE, one element, one operation at a time. The oracle of all others.
#pragma once

#include "emulator/engine/engine.hpp"

namespace gdr {

class ReferenceEngine final : public Engine {
 public:
  std::string_view name() const noexcept override { return "reference"; }
  Isa isa() const noexcept override { return Isa::Portable; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;
};

}  // namespace gdr
