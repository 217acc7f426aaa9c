// Runs results-only passes with few targets on blocks with fewer PEs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/engine/api/pass.hpp"

namespace gdr {

/// A target has the same PE and element in a block with fewer PEs and reads the same words there,
/// so results are bit-identical and the work of idle PEs is saved.
class SmallBlockRunner final : public PassRunner {
 public:
  /// Prepares `program` for a geometry; throws gdr::Error if it does not fit.
  using Prepare = std::function<std::shared_ptr<const Executable>(const Geometry&)>;

  /// `full` runs passes that need all PEs or whose state is read.
  SmallBlockRunner(const LoadedProgram& program, const Geometry& geometry, Prepare prepare,
                   std::unique_ptr<PassRunner> full);
  void run(const Pass& pass) override;
  void invalidate_chips() noexcept override { full_->invalidate_chips(); }

 private:
  /// Chips with small blocks.
  struct Small {
    std::shared_ptr<const Executable> executable;  ///< null if the program does not fit
    std::unique_ptr<PassRunner> runner;
    std::vector<LoadedChip> chips;
  };

  std::uint32_t pes_needed(const Pass& pass) const;
  Small& small(std::uint32_t pes, std::size_t chips);
  void run_small(Small& small, const Pass& pass);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const Prepare prepare_;
  const std::unique_ptr<PassRunner> full_;
  std::map<std::uint32_t, Small> small_;  ///< runners by number of PEs of a block
};

/// True if only the pass's results are observable: it begins with Start, ends with End, and
/// collects no flags.
bool wants_results_only(const Pass& pass) noexcept;

/// Slots of the chip with most targets, if each chip gets all targets that it uses by this pass,
/// from the first slot on, and only results of these are read.
std::optional<std::uint64_t> slots_of_own_targets(const Pass& pass);

}  // namespace gdr
