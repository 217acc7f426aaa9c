#include "libgdr/relay/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gdr/error.hpp"

namespace gdr::relay {
namespace {

void require(bool valid, const std::string& message) {
  if (!valid) throw Error(ErrorCategory::Usage, message);
}

}  // namespace

double Counts::throughput() const noexcept {
  if (!first_delivery || last_delivery <= *first_delivery) return 0;
  return static_cast<double>(delivered.bytes) * 8e9 /
         static_cast<double>((last_delivery - *first_delivery).count());
}

Link::Link(const LinkOptions& options) : options_(options) {
  // The limits keep the sum of all times within 64 bits of nanoseconds.
  require(
      options.rate >= 1e3 && options.rate <= 1e12,
      fmt::format("the rate is {} bit/s: it must be between 1 kbit/s and 1 Tbit/s", options.rate));
  require(options.delay >= Time::zero() && options.delay <= std::chrono::minutes(1),
          "the delay must be between 0 and one minute");
  require(options.loss >= 0 && options.loss <= 1,
          fmt::format("the loss is {}: it is a probability between 0 and 1", options.loss));
}

Time Link::transmission_time(std::size_t bytes) const noexcept {
  return Time(std::llround(static_cast<double>(bytes) * 8e9 / options_.rate));
}

Counts& Link::flow_counts(std::size_t index) {
  if (index >= flows_.size()) flows_.resize(index + 1);
  return flows_[index];
}

const Counts& Link::flow(std::size_t index) const noexcept {
  static const Counts none;
  return index < flows_.size() ? flows_[index] : none;
}

Link::Queue& Link::queue_of(std::size_t flow) {
  const std::size_t index = options_.discipline == Discipline::RoundRobin ? flow : 0;
  if (index >= queues_.size()) queues_.resize(index + 1);
  return queues_[index];
}

void Link::offer(Packet packet, Time now) {
  advance(now);
  const std::size_t size = packet.bytes.size();
  Counts& flow = flow_counts(packet.flow);
  const std::uint64_t number = total_.offered.packets;
  const bool lost = uniform(options_.seed, options_.loss_sequence, number) < options_.loss ||
                    (options_.period > 0 && (number + 1) % options_.period == 0);
  total_.offered.add(size);
  flow.offered.add(size);
  Queue& queue = queue_of(packet.flow);
  const bool idle = turns_.empty() && idle_from_ <= now;
  if (!idle && queue.bytes + size > options_.queue_bytes) {
    total_.overflowed.add(size);
    flow.overflowed.add(size);
    return;
  }
  if (queue.packets.empty()) turns_.push_back(static_cast<std::size_t>(&queue - queues_.data()));
  queue.packets.push_back({std::move(packet), lost});
  queue.bytes += size;
  for (Counts* counts : {&total_, &flow}) counts->queued_bytes += size;
  if (idle) {
    transmit(now);
    return;
  }
  for (Counts* counts : {&total_, &flow})
    counts->queue_max = std::max(counts->queue_max, counts->queued_bytes);
}

void Link::offer_cut(std::size_t flow, std::size_t size) {
  for (Counts* counts : {&total_, &flow_counts(flow)}) {
    counts->offered.add(size);
    counts->cut.add(size);
  }
}

/// Starts all transmissions that start until `now`.
void Link::advance(Time now) {
  while (!turns_.empty() && idle_from_ <= now) transmit(idle_from_);
}

/// Transmits the first packet of the queue whose turn it is.
void Link::transmit(Time start) {
  const std::size_t turn = turns_.front();
  turns_.pop_front();
  Queue& queue = queues_[turn];
  Waiting next = std::move(queue.packets.front());
  queue.packets.pop_front();
  const std::size_t size = next.packet.bytes.size();
  queue.bytes -= size;
  for (Counts* counts : {&total_, &flow_counts(next.packet.flow)}) counts->queued_bytes -= size;
  if (!queue.packets.empty()) turns_.push_back(turn);
  idle_from_ = start + transmission_time(size);
  in_flight_.push_back({idle_from_ + options_.delay, std::move(next)});
}

std::optional<Packet> Link::deliver(Time now) {
  advance(now);
  while (!in_flight_.empty() && in_flight_.front().due <= now) {
    InFlight arrived = std::move(in_flight_.front());
    in_flight_.pop_front();
    Packet& packet = arrived.contents.packet;
    const std::size_t size = packet.bytes.size();
    for (Counts* counts : {&total_, &flow_counts(packet.flow)}) {
      if (arrived.contents.lost) {
        counts->lost.add(size);
        continue;
      }
      counts->delivered.add(size);
      if (!counts->first_delivery) counts->first_delivery = arrived.due;
      counts->last_delivery = arrived.due;
    }
    packet.due = arrived.due;
    if (!arrived.contents.lost) return std::move(packet);
  }
  return std::nullopt;
}

std::optional<Time> Link::next_delivery() const {
  if (!in_flight_.empty()) return in_flight_.front().due;
  if (!turns_.empty()) return idle_from_ + options_.delay;
  return std::nullopt;
}

void Link::remove(std::size_t flow) {
  const auto drop = [&](const Waiting& waiting) {
    if (waiting.packet.flow != flow) return false;
    total_.cut.add(waiting.packet.bytes.size());
    flow_counts(flow).cut.add(waiting.packet.bytes.size());
    return true;
  };
  std::erase_if(in_flight_, [&](const InFlight& packet) { return drop(packet.contents); });
  for (Queue& queue : queues_)
    std::erase_if(queue.packets, [&](const Waiting& waiting) {
      if (!drop(waiting)) return false;
      const std::size_t size = waiting.packet.bytes.size();
      queue.bytes -= size;
      total_.queued_bytes -= size;
      flow_counts(flow).queued_bytes -= size;
      return true;
    });
  std::erase_if(turns_, [&](std::size_t turn) { return queues_[turn].packets.empty(); });
}

}  // namespace gdr::relay
