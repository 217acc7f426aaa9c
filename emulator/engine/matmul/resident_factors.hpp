// The packed factors of fast products, from pass to pass: where those of a pass come from.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/cpu/packed_slabs.hpp"
#include "emulator/engine/matmul/product_pass.hpp"

namespace gdr {

/// Factors of all chips. They come from the records of this pass's targets, from earlier passes, or
/// from the chips' states; those from records are written to the states when these are read.
class ResidentFactors {
 public:
  /// All arguments outlive this.
  ResidentFactors(const MatmulPattern& pattern, const LoadedProgram& program,
                  const Geometry& geometry, const StreamingExecutable& executable);

  /// Before the tasks of the blocks: creates the states of chips that the pass needs.
  void begin(ProductPass& pass);
  /// Whether the blocks of a chip need no state in this pass.
  bool bypasses_state(std::size_t chip) const noexcept { return cached_[chip].by_records; }
  /// Packs the factors of a block, after its targets were written. Thread-safe for different
  /// blocks.
  void gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block);
  /// After the pass: factors are valid until the next access to the chip's state, which receives
  /// deferred writes.
  void end(ProductPass& pass);

  const PackedSlabs& packed() const noexcept { return packed_; }

 private:
  /// What is known of a chip's factors.
  struct CachedFactors {
    std::uint64_t version = ~std::uint64_t{0};  ///< LoadedChip::version when gathered
    bool known = false;                         ///< whether all but targets of this pass are
    bool by_records = false;  ///< whether they are gathered from records: this pass writes whole
                              ///< blocks or none
  };

  bool writes_whole_blocks(const PassState& state, std::size_t chip) const noexcept;
  const std::uint64_t* records_for(const PassState& state, std::size_t chip,
                                   std::size_t block) const noexcept;
  void scatter(std::size_t chip, ChipState& state);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const StreamingExecutable& executable_;
  PackedSlabs packed_;
  std::vector<CachedFactors> cached_;  ///< cached factors, indexed by chip
};

}  // namespace gdr
