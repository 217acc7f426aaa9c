// What the processes that share a device "mpi" report, and the error when one of them is lost.
#pragma once

#include <cstdint>
#include <string>

#include "gdr/error.hpp"

namespace gdr {

/// What one rank of a device "mpi" did since the device was opened.
struct RankReport {
  unsigned rank = 0;                 ///< its number when the device was opened
  std::string host;                  ///< name of its machine
  std::uint64_t boards = 0;          ///< emulated in its process
  std::uint64_t threads = 0;         ///< of its process
  std::uint64_t pairs = 0;           ///< targets times sources that its boards worked on
  std::uint64_t bytes_to_board = 0;  ///< over its boards' links
  std::uint64_t bytes_from_board = 0;
  std::uint64_t bytes_received = 0;  ///< from other ranks, for runs
  std::uint64_t sources_bytes = 0;   ///< of sources that it held for its last run
  std::uint64_t memory_bytes = 0;    ///< of everything that it held of others and for others then
  double seconds = 0;                ///< wall time in runs
  double waiting_seconds = 0;        ///< of these, for other ranks: what no computing hid
  double sources_seconds = 0;        ///< from the beginning of transfers of sources to their end
  double sources_waiting = 0;        ///< of these, boards stood still for them
};

/// Thrown on every rank that is left when another one has ended (category Device), where the MPI
/// lets a job go on: Device::recover makes a device of those that are left.
class RanksLost : public Error {
 public:
  explicit RanksLost(const std::string& message) : Error(ErrorCategory::Device, message) {}
};

}  // namespace gdr
