// Few targets leave most PEs of a block idle: passes of which only results are wanted run on blocks
// that have no more PEs than they need.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "emulator/engine/pass.hpp"

namespace gdr {

/// A target stands in the same PE and element of a block with fewer PEs, and every word that it
/// meets there is the same; so results are, bit for bit, and the work of the others is saved.
class SmallBlockRunner final : public PassRunner {
 public:
  /// Makes `program` ready for a geometry; throws gdr::Error where it does not fit.
  using Prepare = std::function<std::shared_ptr<const Executable>(const Geometry&)>;

  /// `whole` takes passes that need all PEs, or whose PEs are looked at.
  SmallBlockRunner(const LoadedProgram& program, const Geometry& geometry, Prepare prepare,
                   std::unique_ptr<PassRunner> whole);
  void run(const Pass& pass) override;
  void forget_chips() noexcept override { whole_->forget_chips(); }

 private:
  /// Chips with small blocks.
  struct Small {
    std::shared_ptr<const Executable> executable;  ///< null: the program does not fit
    std::unique_ptr<PassRunner> runner;
    std::vector<LoadedChip> chips;
  };

  std::uint32_t pes_needed(const Pass& pass) const;
  Small& small(std::uint32_t pes, std::size_t chips);
  void run_small(Small& small, const Pass& pass);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const Prepare prepare_;
  const std::unique_ptr<PassRunner> whole_;
  std::map<std::uint32_t, Small> small_;  ///< by PEs of a block
};

/// Whether nobody looks at what a pass leaves in the chips but for its results, and it takes all
/// that it needs of them with it: it begins with Start, ends with End, and keeps no flags.
bool wants_results_only(const Pass& pass) noexcept;

}  // namespace gdr
