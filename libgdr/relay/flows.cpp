#include "libgdr/relay/flows.hpp"

namespace gdr::relay {
namespace {

/// Replaces a sequence number by a later one, modulo 2^32 (RFC 9293, section 3.4).
void advance_to(std::optional<std::uint32_t>& number, std::uint32_t value) {
  if (!number || static_cast<std::int32_t>(value - *number) > 0) number = value;
}

/// Whether a packet is the first one of a connection that uses the ports of an ended one. A SYN
/// that was sent before is a repetition.
bool connects_anew(Direction direction, const PacketFields& packet, const Flow& flow) {
  return packet.tcp && packet.tcp->syn && !packet.tcp->ack && (flow.cut || !flow.open()) &&
         packet.tcp->sequence != flow.sent[index_of(direction)].initial;
}

}  // namespace

bool Flow::open() const noexcept {
  const bool connecting = sent[0].end || sent[1].end;
  const bool reset = cut && resets;
  return connecting && !reset && !(sent[0].finished && sent[1].finished);
}

std::size_t FlowTable::update(Direction direction, const PacketFields& packet) {
  const bool to_server = direction == Direction::ToServer;
  const Endpoint& client = to_server ? packet.source : packet.destination;
  const Endpoint& server = to_server ? packet.destination : packet.source;
  const auto [place, inserted] =
      current_.try_emplace({packet.protocol, client, server}, flows_.size());
  if (inserted || connects_anew(direction, packet, flows_[place->second])) {
    place->second = flows_.size();
    flows_.push_back({packet.protocol, client, server, {}, 0, false, false});
  }
  if (packet.tcp) {
    Flow& flow = flows_[place->second];
    SentState& sent = flow.sent[index_of(direction)];
    if (packet.tcp->syn) sent.initial = packet.tcp->sequence;
    advance_to(sent.end, packet.tcp->end);
    if (packet.tcp->ack) advance_to(sent.acknowledgement, packet.tcp->acknowledgement);
    if (packet.tcp->fin) sent.finished = true;
    if (packet.tcp->rst) flow.sent[0].finished = flow.sent[1].finished = true;
  }
  return place->second;
}

}  // namespace gdr::relay
