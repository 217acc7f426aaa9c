// What a device did: work, traffic and the time it would take on the real board.
#pragma once

#include <cstdint>
#include <string>

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
  std::uint64_t slow_runs = 0;  ///< the slow way instead: on integers (vector), exactly (native)
  std::string slow_reason;      ///< why the kernel now loaded takes the slow way, if it always does
  double compile_seconds = 0;   ///< spent making machine code
  unsigned lost_boards = 0;     ///< that failed and were taken out since the device was opened
  std::uint64_t checks = 0;     ///< tests of all boards in the background (option check)

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

/// What one rank of a device "mpi" did since the device was opened.
struct RankReport {
  unsigned rank = 0;
  std::string host;                  ///< name of its machine
  std::uint64_t boards = 0;          ///< emulated in its process
  std::uint64_t threads = 0;         ///< of its process
  std::uint64_t pairs = 0;           ///< targets times sources that its boards worked on
  std::uint64_t bytes_to_board = 0;  ///< over its boards' links
  std::uint64_t bytes_from_board = 0;
  std::uint64_t bytes_received = 0;  ///< from other ranks, for runs
  std::uint64_t sources_bytes = 0;   ///< of sources that it held for its last run
  double seconds = 0;                ///< wall time in runs
  double waiting_seconds = 0;        ///< of these, for other ranks: what no computing hid
};

}  // namespace gdr
