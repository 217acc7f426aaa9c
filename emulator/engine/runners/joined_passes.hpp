// Executes the results-only passes of several lists as one pass on more chips.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "emulator/engine/api/pass.hpp"

namespace gdr {

/// For engines that execute the blocks of all passes on a device at once
/// (StreamingExecutable::joins_passes): a board has too few targets to fill it. Each pass runs on
/// chips of its own, which see the memories of the board's. So results are those of passes one by
/// one, and the board's chips keep their states, which nobody may observe after such passes.
class JoinedPasses final : public PassRunner {
 public:
  /// `one_by_one` runs all other passes.
  JoinedPasses(const LoadedProgram& program, const Geometry& geometry,
               const StreamingExecutable& executable, std::unique_ptr<PassRunner> one_by_one);
  void run(const Pass& pass) override { one_by_one_->run(pass); }
  bool run_together(std::span<const Pass> passes) override;
  void invalidate_chips() noexcept override { one_by_one_->invalidate_chips(); }

 private:
  bool may_join(const Pass& pass, const Pass& first) const;
  void run_as_one(std::span<const Pass> passes);
  PassChip chip_for(std::size_t number, const Pass& pass, std::size_t chip);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const StreamingExecutable& executable_;
  const std::unique_ptr<PassRunner> one_by_one_;
  std::unique_ptr<PassRunner>
      runner_;                    ///< runner of the pass that joins others; made at its first use
  std::deque<LoadedChip> chips_;  ///< chips of this pass
  std::vector<std::uint64_t> results_;  ///< results of this pass
};

}  // namespace gdr
