// Engines that take j-items past the broadcast memory, many at a time, block by block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/engine.hpp"

namespace gdr {

/// An executable whose runs may read a SourceStream. The blockwise pass runner uses what it offers.
class StreamedExecutable : public Executable {
 public:
  /// Bytes that a group of j-items takes in a SourceStream; 0 where this program takes none.
  virtual std::size_t stream_bytes() const noexcept = 0;
  /// Whether runs over streams may leave output items (BlockRun::outputs).
  virtual bool streams_outputs() const noexcept { return false; }
  /// Takes over groups of j-items, as they would stand in the broadcast memory, `step` shorts from
  /// one to the next. False if this engine cannot hold them: they must go through the memory.
  virtual bool convert_sources(const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                               std::byte* to) const noexcept = 0;
  /// Groups of j-items up to which run_whole is worth a trial; 0 where the engine does not know it.
  virtual std::uint64_t most_whole_groups() const noexcept = 0;
  /// Start, a run of the body over a stream, and End in one go. False if that cannot be done: then
  /// nothing has changed but words that these sections overwrite without looking at them.
  virtual bool run_whole(BlockState& block, const BlockRun& body) const = 0;
  /// With what bodies that are nothing but sums of products are run, exactly or fast; where both
  /// are null: like any other.
  virtual const ProductKernels* product_kernels() const noexcept { return nullptr; }
  virtual const FastKernels* fast_kernels() const noexcept { return nullptr; }
  /// Says that the body ran as sums of products: on so many blocks, and that so many sums of a
  /// block had to be taken the slow way.
  virtual void note_products(std::uint64_t blocks, std::uint64_t slow) const noexcept = 0;

  std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                          const Geometry& geometry) const override;
};

}  // namespace gdr
