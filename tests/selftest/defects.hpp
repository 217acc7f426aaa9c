// Engines with injected defects.
#pragma once

#include <functional>
#include <memory>

#include "emulator/engine/api/engine.hpp"

namespace gdr::test {

/// Changes the state after an instruction; `state` is the correct one.
using Defect = std::function<void(const Instruction& instruction, BlockState& state)>;

/// Result of a defective unit for two operands, given the right result. Floats are widened;
/// integers are of the operation's width.
using WrongResult = std::function<Long(const Arithmetic& slot, Long a, Long b, Long right)>;

/// Runs the vector engine one instruction at a time, with a defect after each.
class DefectiveEngine final : public Engine {
 public:
  explicit DefectiveEngine(Defect defect, Isa isa = Isa::Portable);
  /// The same for a defect that depends on operands.
  explicit DefectiveEngine(WrongResult wrong, Isa isa = Isa::Portable);
  std::string_view name() const noexcept override { return "defective"; }
  Isa isa() const noexcept override { return isa_; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;

 private:
  Defect defect_;
  WrongResult wrong_;
  Isa isa_;
};

}  // namespace gdr::test
