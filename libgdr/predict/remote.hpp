// Boards in another host, behind a long network: what its streams carry, and the time of a job
// whose results are sent in pieces.
#pragma once

#include <algorithm>
#include <cstddef>

#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/stream_limits.hpp"

namespace gdr::predict {

/// Throws Error (Usage) for a machine with remote boards: for jobs that are not modelled on them.
void require_local(const Machine& machine);

/// The path to the server of the boards, both directions alike; connections are open, and their
/// windows have grown.
class RemotePath {
 public:
  explicit RemotePath(const Machine& machine) : rtt_(machine[Key::RemoteRtt]) {
    const double mtu = machine[Key::RemoteMtu];
    const double stream = std::min(window_limit(machine[Key::RemoteWindow], rtt_),
                                   loss_limit(mss_of(mtu), rtt_, machine[Key::RemoteLoss], true));
    throughput_ = std::min(machine[Key::RemoteRate] * payload_share(mtu),
                           machine[Key::RemoteStreams] * stream);
  }

  /// Payload bytes/s in each direction: the line's rate without headers, or what the windows and
  /// the losses of the streams allow.
  double throughput() const noexcept { return throughput_; }
  double rtt() const noexcept { return rtt_; }

 private:
  double rtt_, throughput_ = 0;
};

/// A run on remote boards, in pieces: batches of targets.
struct RemoteRun {
  std::size_t pieces = 1;
  double source_bytes = 0;  ///< sent before the first piece
  double bytes_in = 0;      ///< sent with the pieces
  double bytes_out = 0;     ///< results
  double board = 0;         ///< seconds of the boards
  bool overlap = true;      ///< later targets are computed while results travel
};

/// Seconds of a run: half a round trip for the first byte there and for the last one back, and a
/// pipeline of three stages, of which the slowest determines the time of all pieces but one.
inline double remote_seconds(const RemotePath& path, const RemoteRun& run) noexcept {
  const double pieces = static_cast<double>(std::max<std::size_t>(1, run.pieces));
  const double there = run.bytes_in / path.throughput(), back = run.bytes_out / path.throughput();
  const double first = path.rtt() + run.source_bytes / path.throughput();
  if (!run.overlap) return first + there + run.board + back;
  return first + (there + run.board + back) / pieces +
         (pieces - 1) / pieces * std::max({there, run.board, back});
}

}  // namespace gdr::predict
