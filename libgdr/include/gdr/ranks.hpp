// Reports of the ranks of a device "mpi", and the error for a failed rank.
#pragma once

#include <cstdint>
#include <string>

#include "gdr/error.hpp"

namespace gdr {

/// Counters of a rank of a device "mpi" since the device was opened.
struct RankReport {
  unsigned rank = 0;                   ///< rank number when the device was opened
  std::string host;                    ///< host name
  std::uint64_t boards = 0;            ///< number of boards of its process
  std::uint64_t threads = 0;           ///< number of host threads of its process
  std::uint64_t pairs = 0;             ///< pairs computed by its boards
  std::uint64_t bytes_to_board = 0;    ///< bytes sent over its boards' links
  std::uint64_t bytes_from_board = 0;  ///< bytes received over its boards' links
  std::uint64_t bytes_received = 0;    ///< bytes received from other ranks during runs
  std::uint64_t sources_bytes = 0;     ///< sources stored for its last run, bytes
  std::uint64_t memory_bytes = 0;      ///< buffers for data of other ranks in its last run, bytes
  double seconds = 0;                  ///< wall time in runs
  double waiting_seconds = 0;  ///< time waiting for other ranks, not overlapped with computation
  double sources_seconds = 0;  ///< duration of transfers of sources
  double sources_waiting = 0;  ///< time in which boards waited for sources
};

/// Thrown on every remaining rank after a rank failure (category Device), if the MPI supports it:
/// Device::shrink continues with the remaining ranks.
class RankFailure : public Error {
 public:
  explicit RankFailure(const std::string& message) : Error(ErrorCategory::Device, message) {}
};

}  // namespace gdr
