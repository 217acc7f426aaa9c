// The time of one run of a pair law on boards, without running it: the time model applied to the
// command lists that libgdr/device writes for such a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/board/time_model.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/device/partition.hpp"

namespace gdr::predict {

/// What the time of a kernel depends on.
struct KernelShape {
  Kernel kernel;  ///< whose variables are sent and read
  std::string name;
  KernelCost cost;
  ProgramTiming timing;
  double flops = 0;  ///< flops counted for an interaction

  double clocks_per_interaction() const noexcept {
    return static_cast<double>(cost.body_clocks) / (cost.elements * cost.group);
  }
};

/// That of a compiled kernel. Throws Error (Program) if it does not fit the geometry.
KernelShape kernel_shape(const Kernel& kernel, const Geometry& geometry);

/// A kernel that is known by its clocks and its count only, with the interface of another one. A
/// pass of its loop takes one source; its sections Start and End take no clocks, as nothing is
/// known of them. Throws Error (Usage) if a pass would not take whole clocks.
KernelShape with_clocks(const KernelShape& interface, std::string name, double clocks,
                        double flops);

/// A job: `partition` as of a device. Sources are sent anew, as their positions have changed; the
/// program is on the boards already.
struct ParticleJob {
  std::size_t targets = 0, sources = 0;
  Partition partition = Partition::Auto;
};

/// What one run costs on the boards of one host.
struct BoardTime {
  ChipPartition share{};
  ChipClocks clocks;                                       ///< of the busiest chip
  std::uint64_t bytes_to_board = 0, bytes_from_board = 0;  ///< all boards
  double seconds = 0;  ///< until the slowest board is done; the host's own work is not in it
  /// Seconds in which the busiest board's link works, each direction.
  double link_write = 0, link_read = 0;
};

/// The same numbers as Device::statistics gives for the run: `boards` boards of `geometry`. Throws
/// Error (Usage) for a partition that the kernel does not allow, Error (Device) if a chip's memory
/// does not hold one source.
BoardTime particle_time(const KernelShape& kernel, const Geometry& geometry,
                        const BoardRates& rates, unsigned boards, const ParticleJob& job);

}  // namespace gdr::predict
