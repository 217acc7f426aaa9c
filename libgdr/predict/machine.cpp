// The table of keys, and the parameters of the models of board and host.
#include "libgdr/predict/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/predict/remote.hpp"

namespace gdr::predict {
namespace {

constexpr std::array<std::string_view, 5> origins{"published", "recalled", "derived", "assumed",
                                                  "tuned"};

constexpr double max_blocks = GeometryLimits::blocks, max_pes = GeometryLimits::pes_per_block;
constexpr double max_words = GeometryLimits::memory_words, max_chips = GeometryLimits::chips;

constexpr std::array<KeyInfo, key_count> keys{{
    {Key::ChipClock, "chip.clock", "Hz", 1, 1e15, false, "PE clock"},
    {Key::ChipBlocks, "chip.blocks", "", 1, max_blocks, true, "broadcast blocks of a chip"},
    {Key::ChipPes, "chip.pes", "", 1, max_pes, true, "PEs of a block"},
    {Key::ChipBroadcastWords, "chip.broadcast_words", "long words", 1, max_words, true,
     "broadcast memory of a block"},
    {Key::ChipPortIn, "chip.port_in", "clocks a word", 1, 1e6, true, "words into a chip"},
    {Key::ChipPortOut, "chip.port_out", "clocks a word", 1, 1e6, true, "words out of a chip"},
    {Key::ChipPower, "chip.power", "W", 0, 1e6, false, "a chip in operation"},
    {Key::BoardChips, "board.chips", "", 1, max_chips, true, "chips of a board"},
    {Key::BoardMemory, "board.memory", "bytes", 4096, 1099511627776.0, true, "memory of each chip"},
    {Key::BoardMemoryBandwidth, "board.memory_bandwidth", "bytes/s", 1, 1e18, false,
     "a chip's memory, sum of both directions"},
    {Key::BoardPower, "board.power", "W", 0, 1e6, false, "a board without its chips"},
    {Key::BoardProductShare, "board.product_share", "of peak", 0.001, 1, false,
     "upper limit of the rate of matrix products, besides the model of their steps"},
    {Key::LinkWrite, "link.write", "bytes/s", 1, 1e18, false, "host to board"},
    {Key::LinkRead, "link.read", "bytes/s", 1, 1e18, false, "board to host"},
    {Key::HostProduct, "host.product", "flops/s", 1, 1e18, false, "matrix products on the host"},
    {Key::HostMemoryBandwidth, "host.memory_bandwidth", "bytes/s", 1, 1e18, false,
     "the host's memory"},
    {Key::HostCacheLine, "host.cache_line", "bytes", 8, 65536, true,
     "cache line, transferred for each element of a row"},
    {Key::HostMemory, "host.memory", "bytes", 1, 1e18, true, "memory of a node"},
    {Key::HostPower, "host.power", "W", 0, 1e6, false, "a node without its boards"},
    {Key::NodeBoards, "node.boards", "", 0, 64, true, "boards of a node; 0: the host alone"},
    {Key::NetworkNodes, "network.nodes", "", 1, 1048576, true, "number of nodes"},
    {Key::NetworkBandwidth, "network.bandwidth", "bytes/s", 1, 1e18, false,
     "a node's messages, each direction"},
    {Key::NetworkLatency, "network.latency", "s", 0, 10, false, "latency of a short message"},
    {Key::NetworkSegment, "network.segment", "bytes", 1, 1e12, true,
     "segments in which long messages are forwarded"},
    {Key::RemoteRate, "remote.rate", "bytes/s", 0, 1e18, false,
     "line to the server that has the boards, each direction; 0: the host has them"},
    {Key::RemoteRtt, "remote.rtt", "s", 0, 100, false, "round trip to the server"},
    {Key::RemoteMtu, "remote.mtu", "bytes", 100, 65536, true, "packets, headers included"},
    {Key::RemoteWindow, "remote.window", "bytes", 1, 1e18, false, "largest window of a stream"},
    {Key::RemoteLoss, "remote.loss", "", 0, 0.1, false, "probability that a packet is lost"},
    {Key::RemoteStreams, "remote.streams", "", 1, 256, true, "streams that share the data"},
}};

constexpr bool in_order() {
  for (std::size_t k = 0; k < key_count; ++k)
    if (keys[k].key != static_cast<Key>(k)) return false;
  return true;
}
static_assert(in_order(), "the table has a row for every key, in the order of Key");

}  // namespace

std::string_view origin_name(Origin origin) noexcept {
  return origins[static_cast<std::size_t>(origin)];
}

Origin parse_origin(std::string_view name) {
  const auto found = std::ranges::find(origins, name);
  if (found == origins.end())
    throw Error(ErrorCategory::Usage,
                unknown_name("origin", name, {origins.begin(), origins.end()}));
  return static_cast<Origin>(found - origins.begin());
}

const std::array<KeyInfo, key_count>& key_table() noexcept { return keys; }

const KeyInfo& find_key(std::string_view name) {
  std::vector<std::string_view> known;
  for (const KeyInfo& info : keys) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw Error(ErrorCategory::Usage, unknown_name("value of a machine", name, known));
}

void Machine::set(Key key, const Quantity& quantity) {
  const KeyInfo& info = keys[static_cast<std::size_t>(key)];
  const double x = quantity.value;
  if (!std::isfinite(x) || x < info.least || x > info.most || (info.whole && x != std::floor(x)))
    throw Error(ErrorCategory::Usage,
                fmt::format("{} = {:g}: a {} from {:g} to {:g}{}{} is needed", info.name, x,
                            info.whole ? "whole number" : "number", info.least, info.most,
                            info.unit.empty() ? "" : " ", info.unit));
  values[static_cast<std::size_t>(key)] = quantity;
}

Geometry Machine::geometry() const {
  Geometry g;
  g.chips_per_board = static_cast<std::uint32_t>(count(Key::BoardChips));
  g.blocks = static_cast<std::uint32_t>(count(Key::ChipBlocks));
  g.pes_per_block = static_cast<std::uint32_t>(count(Key::ChipPes));
  g.broadcast_words = static_cast<std::uint32_t>(count(Key::ChipBroadcastWords));
  g.dram_bytes = count(Key::BoardMemory) / 8 * 8;
  g.clock_hz = (*this)[Key::ChipClock];
  return g;
}

BoardRates Machine::board_rates() const {
  BoardRates rates;
  rates.port_in = count(Key::ChipPortIn);
  rates.port_out = count(Key::ChipPortOut);
  rates.dram = (*this)[Key::BoardMemoryBandwidth];
  rates.link_write = (*this)[Key::LinkWrite];
  rates.link_read = (*this)[Key::LinkRead];
  return rates;
}

dense::HostRates Machine::host_rates() const {
  return {(*this)[Key::HostProduct], (*this)[Key::HostMemoryBandwidth],
          (*this)[Key::HostCacheLine]};
}

dense::FactorClock Machine::factor_clock() const {
  return dense::FactorClock(geometry(), board_rates(), host_rates(),
                            static_cast<unsigned>(boards()), (*this)[Key::BoardProductShare]);
}

void require_local(const Machine& machine) {
  if (machine.remote())
    throw Error(ErrorCategory::Usage, "machine " + machine.name +
                                          " has remote boards (remote.rate > 0); they are only "
                                          "modelled for particle jobs");
}

double Machine::peak_double() const noexcept {
  return (*this)[Key::ChipClock] * (*this)[Key::ChipBlocks] * (*this)[Key::ChipPes] *
         static_cast<double>(chips());
}

double Machine::power() const noexcept {
  const double board =
      (*this)[Key::BoardPower] + (*this)[Key::BoardChips] * (*this)[Key::ChipPower];
  return (*this)[Key::NetworkNodes] * ((*this)[Key::HostPower] + (*this)[Key::NodeBoards] * board);
}

}  // namespace gdr::predict
