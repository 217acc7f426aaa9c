// What a device did: work, traffic and the time it would take on the real board.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gdr {

/// Counted since the device was opened or its statistics were reset. Clocks, bytes and predicted
/// seconds depend on the program and the volumes alone: the same in every engine and thread count.
struct Statistics {
  std::uint64_t runs = 0;            ///< loops started
  std::uint64_t interactions = 0;    ///< pairs asked for: targets times sources
  double flops = 0;                  ///< interactions times the kernel's declared count
  std::uint64_t compute_clocks = 0;  ///< clocks of the PEs (chips work side by side)
  std::uint64_t chip_clocks = 0;     ///< with the ports: the larger of both for every half filled
  std::uint64_t bytes_to_board = 0;  ///< over the host link
  std::uint64_t bytes_from_board = 0;
  double predicted_seconds = 0;  ///< on the real board, transfers included
  double host_seconds = 0;       ///< measured: wall time inside the emulator
  std::string engine;            ///< "reference", "vector", "native", "native-float"
  std::string isa;               ///< "portable", "avx2", "avx512"
  unsigned threads = 1;
  std::uint64_t fast_runs = 0;  ///< sections run on a block in host numbers: proved exact (vector),
                                ///< or compiled (native)
  std::uint64_t fallback_runs =
      0;  ///< the slow way instead: on integers (vector), exactly (native)
  /// Why the kernel now loaded takes the slow way, always or the first time that a proof failed:
  /// the instruction, its source line, and what about it. Of native-float also what it did in
  /// doubles.
  std::string fallback_reason;
  double compile_seconds = 0;  ///< spent making machine code
  unsigned lost_boards = 0;    ///< that failed and were taken out since the device was opened
  std::uint64_t checks = 0;    ///< tests of all boards in the background (option check)
  /// Failed ranks, by their numbers when the device was opened.
  std::vector<unsigned> failed_ranks;

  // Measured, of runs: together they are more than host_seconds where they overlapped.
  double conversion_seconds = 0;  ///< the host converting arrays of jobs, also between runs
  double transfer_seconds = 0;    ///< the host copying to and from memory that boards reach
  double board_seconds = 0;       ///< boards at work on command lists, all boards together
  double overlap_seconds = 0;     ///< of runs: that their parts took less together than in turns

  /// Predicted Gflops on the board: flops / predicted_seconds / 1e9 (0 before any run).
  double predicted_gflops() const noexcept {
    return predicted_seconds > 0 ? flops / predicted_seconds * 1e-9 : 0.0;
  }
};

}  // namespace gdr
