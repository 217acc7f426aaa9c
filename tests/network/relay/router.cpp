#include "network/relay/router.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gdr/error.hpp"

namespace gdr::relay {

Router::Router(const std::array<LinkOptions, 2>& links, const CutOptions& cuts)
    : links_{Link(links[0]), Link(links[1])}, options_(cuts) {
  if (options_.mean_time && *options_.mean_time < std::chrono::milliseconds(1))
    throw Error(ErrorCategory::Usage, "the mean time between cuts must be at least 1 ms");
}

void Router::draw_cut_time() {
  if (cuts_ >= options_.limit) {
    next_cut_.reset();
    return;
  }
  const double number = uniform(options_.seed, CutTimes, drawn_times_++);
  const double mean = static_cast<double>(options_.mean_time->count());
  *next_cut_ += Time(std::llround(-mean * std::log1p(-number)));
}

void Router::receive(Direction direction, std::span<const std::byte> packet, Time now) {
  const std::optional<PacketFields> fields = parse_packet(packet);
  if (!fields) {
    ++ignored_;
    return;
  }
  if (options_.mean_time && drawn_times_ == 0) {
    next_cut_ = now;
    draw_cut_time();
  }
  run_cuts(now);
  const std::size_t index = flows_.update(direction, *fields);
  const Flow& flow = flows_[index];
  Link& link = links_[index_of(direction)];
  if (!flow.cut) {
    link.offer({{packet.begin(), packet.end()}, index}, now);
    return;
  }
  link.offer_cut(index, packet.size());
  // The acknowledgement of this packet is exact, even if that of the last RST was not.
  if (flow.resets && fields->tcp && !fields->tcp->rst) reset(index, opposite(direction));
}

std::optional<Arrival> Router::next(Time now) {
  run_cuts(now);
  for (const Direction direction : {Direction::ToServer, Direction::ToClient}) {
    std::optional<Packet> packet = links_[index_of(direction)].deliver(now);
    if (!packet) continue;
    cut_by_bytes(packet->flow, now);
    return Arrival{direction, std::move(*packet)};
  }
  if (resets_.empty()) return std::nullopt;
  Arrival reset = std::move(resets_.front());
  resets_.pop_front();
  return reset;
}

std::optional<Time> Router::next_event() const {
  std::optional<Time> next;
  const auto earliest = [&](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  for (const Link& link : links_) earliest(link.next_delivery());
  if (!silences_.empty()) earliest(silences_.front().end);
  if (!resets_.empty()) earliest(Time::zero());
  earliest(next_cut_);
  return next;
}

/// Cuts connections, and resets those that have been silent long enough.
void Router::run_cuts(Time now) {
  while (next_cut_ && *next_cut_ <= now) {
    bool any = false;
    for (std::size_t k = 0; k < flows_.size(); ++k) any |= cut(k, *next_cut_);
    cuts_ += any ? 1 : 0;
    draw_cut_time();
  }
  while (!silences_.empty() && silences_.front().end <= now) {
    const std::size_t flow = silences_.front().flow;
    silences_.pop_front();
    flows_[flow].resets = true;
    for (const Direction to : {Direction::ToServer, Direction::ToClient}) reset(flow, to);
  }
}

void Router::cut_by_bytes(std::size_t flow, Time now) {
  if (options_.mean_bytes == 0 || flows_[flow].cut || cuts_ >= options_.limit) return;
  const double limit = 2 * static_cast<double>(options_.mean_bytes) *
                       uniform(options_.seed, CutBytes, static_cast<std::uint64_t>(flow));
  const std::uint64_t bytes =
      links_[0].flow(flow).delivered.bytes + links_[1].flow(flow).delivered.bytes;
  if (static_cast<double>(bytes) >= limit && cut(flow, now)) ++cuts_;
}

/// Drops a connection's packets from now on; false if it is not an open connection.
bool Router::cut(std::size_t index, Time now) {
  Flow& flow = flows_[index];
  if (flow.cut || !flow.open()) return false;
  flow.cut = true;
  for (Link& link : links_) link.remove(index);
  if (options_.reset_after) silences_.push_back({now + *options_.reset_after, index});
  return true;
}

/// Sends RST to the receiver of packets of this direction, in the name of the other end.
void Router::reset(std::size_t index, Direction to) {
  const Flow& flow = flows_[index];
  const bool to_server = to == Direction::ToServer;
  const SentState& receiver = flow.sent[index_of(opposite(to))];
  if (!receiver.end) return;  // it has not answered yet, and has no connection
  const Endpoint& source = to_server ? flow.client : flow.server;
  const Endpoint& destination = to_server ? flow.server : flow.client;
  resets_.push_back(
      {to,
       {reset_packet(source, destination, receiver.acknowledgement.value_or(0), *receiver.end),
        index}});
}

}  // namespace gdr::relay
