// Counters of a device: work, transfers, and predicted time on the real board.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/engine_numbers.hpp"

namespace gdr {

/// By the name of the engine (Statistics::engine): "native" and "gpu" compute in doubles,
/// "native-mixed", "native-float", "native-fast" and "gpu-float" in floats, all others as the chip
/// does.
EngineNumbers numbers_of(std::string_view engine) noexcept;

/// Counters since opening or a reset. Clocks, bytes and predicted seconds depend on the program and
/// amounts of data, not on threads nor, except for products in full precision, on the engine.
struct Statistics {
  std::uint64_t runs = 0;              ///< number of runs
  std::uint64_t interactions = 0;      ///< number of pairs: targets times sources
  double flops = 0;                    ///< interactions times the kernel's declared operations
  std::uint64_t compute_clocks = 0;    ///< clocks of the PEs of the busiest chip
  std::uint64_t chip_clocks = 0;       ///< clocks including port transfers that the PEs wait for
  std::uint64_t bytes_to_board = 0;    ///< bytes sent over the host link
  std::uint64_t bytes_from_board = 0;  ///< bytes received over the host link
  double predicted_seconds = 0;        ///< predicted time on the real board, including transfers
  double host_seconds = 0;             ///< measured wall time of runs, summed over queues
  std::string engine;                  ///< name of the engine: "vector", "native", ...
  std::string isa;                     ///< instruction set of the engine: "avx512", ...
  unsigned threads = 1;                ///< number of host threads
  /// Block sections in host arithmetic: proved exact (vector, gpu-exact) or compiled (native, gpu).
  std::uint64_t fast_runs = 0;
  std::uint64_t fallback_runs = 0;  ///< block sections in emulated arithmetic instead
  std::uint64_t gpu_runs = 0;       ///< the part of `fast_runs` whose loop ran on a GPU
  /// Reason of the first fallback of the loaded kernel: the instruction, its source line and the
  /// cause. For engines among floats, also the operations done in double. Limits of the host that
  /// make all engines slower: threads that cannot be created, memory that may not become
  /// executable.
  std::string fallback_reason;
  double compile_seconds = 0;  ///< time of generating machine code
  unsigned failed_boards = 0;  ///< boards that failed since the device was opened
  std::uint64_t checks = 0;    ///< background tests of all boards (option health_check)
  /// Ranks that failed, by their numbers when the device was opened.
  std::vector<unsigned> failed_ranks;

  // Measured times of runs. Their sum exceeds host_seconds if they overlap.
  double conversion_seconds = 0;  ///< host time of converting arrays of jobs, also between runs
  double transfer_seconds = 0;    ///< host time of copying to and from memory accessible to boards
  double board_seconds = 0;       ///< time of boards executing command lists, summed over boards
  double overlap_seconds = 0;     ///< time saved by overlapping these parts of runs

  /// Predicted Gflops on the board: flops / predicted_seconds / 1e9 (0 without runs).
  double predicted_gflops() const noexcept {
    return predicted_seconds > 0 ? flops / predicted_seconds * 1e-9 : 0.0;
  }
};

}  // namespace gdr
