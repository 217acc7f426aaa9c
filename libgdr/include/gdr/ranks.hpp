// Reports of the ranks of a device "mpi", and the error after a rank failure.
#pragma once

#include <cstdint>
#include <string>

#include "gdr/error.hpp"

namespace gdr {

/// Work of one rank of a device "mpi" since the device was opened.
struct RankReport {
  unsigned rank = 0;                 ///< rank number when the device was opened
  std::string host;                  ///< host name
  std::uint64_t boards = 0;          ///< emulated boards in its process
  std::uint64_t threads = 0;         ///< threads of its process
  std::uint64_t pairs = 0;           ///< interactions computed by its boards
  std::uint64_t bytes_to_board = 0;  ///< bytes over its boards' links
  std::uint64_t bytes_from_board = 0;
  std::uint64_t bytes_received = 0;  ///< bytes from other ranks during runs
  std::uint64_t sources_bytes = 0;   ///< memory of sources in its last run
  std::uint64_t memory_bytes = 0;    ///< memory for communication in its last run
  double seconds = 0;                ///< wall time of runs
  double waiting_seconds = 0;        ///< part of `seconds` spent waiting for other ranks
  double sources_seconds = 0;        ///< duration of source transfers
  double sources_waiting = 0;        ///< part of it during which boards were idle
};

/// Thrown on every remaining rank after a rank failure (category Device), if the MPI supports it:
/// Device::shrink continues with the remaining ranks.
class RankFailure : public Error {
 public:
  explicit RankFailure(const std::string& message) : Error(ErrorCategory::Device, message) {}
};

}  // namespace gdr
