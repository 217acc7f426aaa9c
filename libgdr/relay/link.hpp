// The model of a link in one direction: queue, transmission rate, propagation delay and loss.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "libgdr/relay/random.hpp"

namespace gdr::relay {

/// Time since the start of the relay.
using Time = std::chrono::nanoseconds;

/// An IP packet.
struct Packet {
  std::vector<std::byte> bytes;  ///< contents from the IP header on
  std::size_t flow = 0;          ///< index of its flow
  Time due{};                    ///< time of arrival at the other end of the last link
};

/// The order in which waiting packets are transmitted.
enum class Discipline {
  Fifo,        ///< one queue, in the order of arrival
  RoundRobin,  ///< a queue for each flow, one packet of each in turn
};

/// Properties of a link.
struct LinkOptions {
  double rate = 1e9;                       ///< transmission rate, bit/s
  Time delay{};                            ///< propagation delay
  std::uint64_t queue_bytes = 32'000'000;  ///< capacity of a queue for waiting packets, bytes
  double loss = 0;                         ///< probability that a packet is lost
  std::uint64_t period = 0;  ///< each packet with a multiple of this number is lost; 0: none
  Discipline discipline = Discipline::Fifo;  ///< order of transmission
  std::uint64_t seed = 1;                    ///< seed of the losses
  Sequence loss_sequence = LossToServer;     ///< random sequence of the losses
};

/// A number of packets and their bytes, IP headers included.
struct Count {
  std::uint64_t packets = 0, bytes = 0;
  void add(std::size_t size) noexcept { ++packets, bytes += size; }
};

/// What happened to the packets of a link, or to those of one flow on it.
struct Counts {
  Count offered;                       ///< all packets that arrived at the link
  Count delivered;                     ///< packets at the other end
  Count lost;                          ///< random losses
  Count overflowed;                    ///< packets that found the queue full
  Count cut;                           ///< packets of connections that the relay cut
  std::uint64_t queued_bytes = 0;      ///< bytes waiting now
  std::uint64_t queue_max = 0;         ///< most bytes that waited at any time
  std::optional<Time> first_delivery;  ///< due time of the first delivered packet
  Time last_delivery{};                ///< due time of the last delivered packet

  /// Delivered bits per second between the first and the last delivery; 0 for fewer than two
  /// packets.
  double throughput() const noexcept;
};

/// A link. A packet waits in a queue, is transmitted at the rate of the link, and arrives after the
/// propagation delay. A queue that has no space for a packet drops it. Packet number n of the link
/// is lost if random number n of the seed is below the probability, or n a multiple of the period;
/// it occupies queue and rate all the same, as a packet that is damaged on its way. The result
/// depends on the arrivals only, not on when `deliver` is called.
class Link {
 public:
  /// Throws gdr::Error (Usage) if a property is out of range.
  explicit Link(const LinkOptions& options);

  /// A packet arrives at the link. Times must not decrease.
  void offer(Packet packet, Time now);
  /// A packet of a cut connection arrives at the link, and is dropped.
  void offer_cut(std::size_t flow, std::size_t size);
  /// The next packet that has reached the other end by this time.
  std::optional<Packet> deliver(Time now);
  /// When the next packet reaches the other end; nothing if the link is empty. A lost packet
  /// counts.
  std::optional<Time> next_delivery() const;
  /// Drops all packets of a flow that are on the link.
  void remove(std::size_t flow);

  const LinkOptions& options() const noexcept { return options_; }
  /// Counts of all packets.
  const Counts& total() const noexcept { return total_; }
  /// Counts of the packets of a flow.
  const Counts& flow(std::size_t index) const noexcept;

 private:
  struct Waiting {
    Packet packet;
    bool lost;
  };
  struct InFlight {
    Time due;
    Waiting contents;
  };
  struct Queue {
    std::deque<Waiting> packets;
    std::uint64_t bytes = 0;
  };

  Counts& flow_counts(std::size_t index);
  Queue& queue_of(std::size_t flow);
  void advance(Time now);
  void transmit(Time start);
  Time transmission_time(std::size_t bytes) const noexcept;

  LinkOptions options_;
  Counts total_;
  std::vector<Counts> flows_;
  std::vector<Queue> queues_;       // by flow, or one
  std::deque<std::size_t> turns_;   // queues that have packets, in the order of their turns
  std::deque<InFlight> in_flight_;  // in the order of their due times
  Time idle_from_{};                // end of the current transmission
};

}  // namespace gdr::relay
