// Executables that read j-items from a stream instead of the broadcast memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/engine.hpp"

namespace gdr {

/// An executable whose runs may read a SourceStream. The blockwise pass runner uses these
/// functions.
class StreamingExecutable : public Executable {
 public:
  /// Bytes of a group of j-items in a SourceStream; 0 if the program accepts no stream.
  virtual std::size_t stream_bytes() const noexcept = 0;
  /// Whether runs over streams may write output items (BlockRun::outputs).
  virtual bool streams_outputs() const noexcept { return false; }
  /// Converts groups of j-items, given as in the broadcast memory, `step` shorts apart. False if
  /// the engine cannot represent them: they must go through the memory.
  virtual bool convert_sources(const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                               std::byte* to) const noexcept = 0;
  /// Largest number of groups for which run_program should be tried; 0 if unsupported.
  virtual std::uint64_t max_fused_groups() const noexcept = 0;
  /// Fused run: Start, the body over a stream, and End. False on failure: then only words that
  /// these sections write without reading them have changed.
  virtual bool run_program(BlockState& block, const BlockRun& body) const = 0;
  /// Kernels for bodies that are matrix products, exact or fast; null: not supported.
  virtual const MatmulKernels* matmul_kernels() const noexcept { return nullptr; }
  virtual const FastMatmulKernels* fast_matmul_kernels() const noexcept { return nullptr; }
  /// Counts a body that ran as a matrix product: the number of blocks, and of sums that used the
  /// integer fallback.
  virtual void record_matmul(std::uint64_t blocks, std::uint64_t slow) const noexcept = 0;

  std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                          const Geometry& geometry) const override;
};

}  // namespace gdr
