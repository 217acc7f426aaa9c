// Executes runs whose bodies are matrix products, without the program's instructions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/device_run.hpp"
#include "emulator/engine/matmul/product_pass.hpp"

namespace gdr {

/// The products of a program's passes on one board. The runner of the passes writes targets and
/// processes the first items block by block, and calls this for the rest.
class MatmulRunner {
 public:
  /// Null if the body is not a product of doubles or of floats, or if the engine has no functions
  /// for it. All arguments outlive the runner.
  static std::unique_ptr<MatmulRunner> make(const LoadedProgram& program, const Geometry& geometry,
                                            const StreamingExecutable& executable);
  MatmulRunner(const MatmulPattern& pattern, const LoadedProgram& program, const Geometry& geometry,
               const StreamingExecutable& executable);

  /// Whether the current run of a pass can be computed as a product: its only results are reduced
  /// output items.
  bool computes(const PassState& state) const noexcept;
  /// Begins a run that it computes; creates the states that the tasks of blocks need.
  void begin(PassState& state, unsigned threads);
  /// Fills of the memory that the program processes itself.
  std::uint64_t fills_before(const PassState& state) const noexcept;
  /// Whether the task of a chip's block is only to gather its factors.
  bool bypasses_state(std::size_t chip) const noexcept { return host_->bypasses_state(chip); }
  /// Takes the factors of a block.
  void gather(std::uint32_t chip, std::uint32_t block) { host_->gather(*pass_, chip, block); }
  /// Appends what computes the results.
  void add_phases(std::vector<Phase>& phases);
  /// After all phases.
  void end();

 private:
  std::uint64_t items_before(const PassState& state) const noexcept;

  const MatmulPattern pattern_;
  const std::unique_ptr<HostProducts> host_;
  std::optional<DeviceRun> device_;
  std::optional<ProductPass> pass_;  ///< the current one
};

}  // namespace gdr
