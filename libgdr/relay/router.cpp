#include "libgdr/relay/router.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gdr/error.hpp"

namespace gdr::relay {
namespace {

constexpr Direction both[] = {Direction::ToServer, Direction::ToClient};

std::size_t port_of(const Flow& flow, std::size_t ports) noexcept {
  const std::size_t port = flow.server.port - std::size_t{first_port};
  return flow.server.port >= first_port && port < ports ? port : 0;
}

}  // namespace

Router::Router(const RouterOptions& options) : options_(options.cuts), rules_(options.rules) {
  if (options_.mean_time && *options_.mean_time < std::chrono::milliseconds(1))
    throw Error(ErrorCategory::Usage, "the mean time between cuts must be at least 1 ms");
  if (options.ports.empty() || options.ports.size() > max_ports)
    throw Error(ErrorCategory::Usage, "a relay has one to five ports");
  for (const LinkPair& port : options.ports) ports_.push_back({Link(port[0]), Link(port[1])});
  if (options.line) line_ = {Link((*options.line)[0]), Link((*options.line)[1])};
}

const Counts& Router::delivered(Direction direction, std::size_t flow) const {
  return line_.empty() ? link(direction, flows_[flow].port).flow(flow)
                       : line_[index_of(direction)].flow(flow);
}

const Rule* Router::rule_for(Direction direction, const PacketFields& packet, Time now) {
  if (!first_packet_) first_packet_ = now;
  for (const Rule& rule : rules_)
    if (rule.matches(direction, packet, now - *first_packet_)) return &rule;
  return nullptr;
}

/// Moves packets that have passed their port until `now` to the line, in the order of their times.
void Router::merge(Time now) {
  for (const Direction direction : both) {
    if (line_.empty()) return;
    for (;;) {
      Link* first = nullptr;
      std::optional<Time> due;
      for (auto& port : ports_) {
        Link& link = port[index_of(direction)];
        const std::optional<Time> next = link.next_delivery();
        if (next && *next <= now && (!due || *next < *due)) {
          due = next;
          first = &link;
        }
      }
      if (!first) break;
      // A packet that was lost may have been the next one: then there is none at this time.
      if (std::optional<Packet> packet = first->deliver(*due)) {
        const Time time = packet->due;
        line_[index_of(direction)].offer(std::move(*packet), time);
      }
    }
  }
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
  Flow& flow = flows_[index];
  flow.port = port_of(flow, ports_.size());
  Link& link = ports_[flow.port][index_of(direction)];
  if (const Rule* rule = rule_for(direction, *fields, now); rule && !flow.cut) {
    link.offer_cut(index, packet.size());
    if (rule->reset) {
      cut(index, now, Time::zero());
      run_cuts(now);
    }
    return;
  }
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
  merge(now);
  for (const Direction direction : both) {
    std::optional<Packet> packet;
    if (!line_.empty()) packet = line_[index_of(direction)].deliver(now);
    for (std::size_t k = 0; k < ports_.size() && line_.empty() && !packet; ++k)
      packet = ports_[k][index_of(direction)].deliver(now);
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
  for (const auto& port : ports_)
    for (const Link& link : port) earliest(link.next_delivery());
  for (const Link& link : line_) earliest(link.next_delivery());
  if (!silences_.empty()) earliest(silences_.front().end);
  if (!resets_.empty()) earliest(Time::zero());
  earliest(next_cut_);
  return next;
}

/// Cuts connections, and resets those that have been silent long enough.
void Router::run_cuts(Time now) {
  while (next_cut_ && *next_cut_ <= now) {
    bool any = false;
    for (std::size_t k = 0; k < flows_.size(); ++k) any |= cut(k, *next_cut_, options_.reset_after);
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
      delivered(both[0], flow).delivered.bytes + delivered(both[1], flow).delivered.bytes;
  if (static_cast<double>(bytes) >= limit && cut(flow, now, options_.reset_after)) ++cuts_;
}

/// Drops a connection's packets from now on; false if it is not an open connection.
bool Router::cut(std::size_t index, Time now, std::optional<Time> reset_after) {
  Flow& flow = flows_[index];
  if (flow.cut || !flow.open()) return false;
  flow.cut = true;
  for (Link& link : ports_[flow.port]) link.remove(index);
  for (Link& link : line_) link.remove(index);
  if (reset_after) {
    const Silence silence{now + *reset_after, index};
    silences_.insert(std::ranges::upper_bound(silences_, silence.end, {}, &Silence::end), silence);
  }
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
