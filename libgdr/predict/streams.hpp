// Streams that share a bottleneck: a simulation packet by packet of windows, losses and the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libgdr/predict/congestion.hpp"
#include "libgdr/predict/stream_limits.hpp"

namespace gdr::predict {

/// A sender with endless data.
struct Stream {
  double rtt = 0.1;      ///< round trip without queues, seconds
  double mtu = 1500;     ///< bytes of a packet, headers included
  double window = 1e18;  ///< largest window of sender and receiver, bytes of payload
  Congestion control = Congestion::Reno;
  bool delayed_acks = false;  ///< the receiver acknowledges every second segment
  double pace = 0;            ///< Paced: payload bytes/s; 0: estimated
  double backlog = 10;        ///< Fast: segments in the queue
  double reference = 0.1;     ///< GridDt: round trip of a stream that grows as Reno's, seconds
  bool pacing = false;        ///< packets at equal distances in a round trip, not in bursts
  double start = 0;           ///< begin of the transfer, seconds
  double threshold = 1e18;    ///< window at which slow start ends before the first loss, bytes
  /// Rate at which the hosts can go on, bytes/s of payload: a bus, or a disk. The receiver's
  /// window, in whole segments, then holds back what they cannot take in a round trip without
  /// queues; that must be at least 10 segments.
  double host_rate = 1e18;
};

/// How packets of several streams leave the queue.
enum class Merge {
  Fifo,       ///< packets in the order of their arrival
  RoundRobin  ///< a queue for each stream, of which one packet each is sent in turn
};

/// The bottleneck of all streams. A packet that finds the queue full is lost.
struct Path {
  double rate = 125e6;         ///< bytes/s on the line
  double queue_packets = 40;   ///< capacity of the queue, without the packet that is being sent
  double queue_bytes = 1e18;   ///< the same in bytes; the smaller limit counts
  double loss = 0;             ///< probability that a packet is lost elsewhere
  bool periodic_loss = false;  ///< every 1/loss-th packet of a stream is lost, not random ones
  /// Random time between a sender's decision to send and the arrival of the packet, up to this,
  /// seconds; by default the time of the largest packet on the line. Without it the packets of
  /// streams keep a fixed phase, and always the same one finds the queue full (Floyd and Jacobson,
  /// "On traffic phase effects", 1992, who recommend this much).
  std::optional<double> jitter;
  Merge merge = Merge::Fifo;
};

struct StreamResult {
  double throughput = 0;         ///< payload delivered a second, bytes/s
  std::uint64_t losses = 0;      ///< packets
  std::uint64_t reductions = 0;  ///< times that the window was reduced after losses
  double window = 0;             ///< bytes at the end
  double cycle = 0;              ///< seconds between the last two reductions; 0 if there were fewer
};
struct StreamsResult {
  std::vector<StreamResult> streams;
  double throughput = 0;        ///< throughput of all streams, bytes/s
  double utilisation = 0;       ///< utilisation of the line, headers included
  double largest_queue = 0;     ///< bytes
  std::uint64_t overflows = 0;  ///< packets that found the queue full
};

/// Simulates `seconds` seconds, and averages from `warm_up` on; the same seed gives the same
/// result. Losses are repaired as with selective acknowledgements: they are noticed a round trip
/// later, once for each window, and nothing is sent until the packets in flight fit the reduced
/// window (RFC 6675). Not modelled: time-outs, and the capacity used by repetitions. While the
/// window of a single stream grows and its packets fit the line, or is constant and fills it, no
/// packets are simulated. Throws
/// Error (Usage) for values out of range, and if more than `max_packets` packets would be
/// simulated.
StreamsResult simulate_streams(const Path& path, const std::vector<Stream>& streams, double seconds,
                               double warm_up = 0, std::uint64_t seed = 1,
                               double max_packets = 2e8);

}  // namespace gdr::predict
