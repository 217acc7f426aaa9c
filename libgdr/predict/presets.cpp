// The named machines. Values of the board come from emulator/board/constants.hpp, those of the host
// from libgdr/dense/host_model.hpp; this file has the others.
#include <span>

#include "emulator/board/constants.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/predict/machine.hpp"

namespace gdr::predict {
namespace {

using Value = PresetValue;

/// Power and memory of a node, and the network.
constexpr Value common[] = {
    {Key::ChipPower, 50, Origin::Published,
     "Tech-On and PC Watch, July 2010: 200 Gflops (400 MHz) at 50 W; the design's 65 W are at 500 "
     "MHz"},
    {Key::BoardPower, 20, Origin::Tuned,
     "remainder of the 448 W per node (23.4 Tflops at 815.43 Mflops/W), without a host of 229 W "
     "and "
     "four chips of 50 W: control processors, memories, regulators"},
    {Key::HostMemory, 18e9, Origin::Published,
     "Tech-On, PC Watch, Mynavi, July 2010: 18 GB of DDR3 in every node"},
    {Key::HostPower, 2.2e12 / 150e6 / 64, Origin::Derived,
     "Mynavi, July 2010: the 64 nodes without their boards reach 2.2 Tflops of HPL at about 150 "
     "Mflops/W"},
    {Key::NetworkNodes, 1, Origin::Published, "one node"},
    {Key::NetworkBandwidth, 1.5e9, Origin::Assumed,
     "three quarters of the 2.0e9 of 4x DDR InfiniBand (20 Gb/s, eight bits of ten)"},
    {Key::NetworkLatency, 3e-6, Origin::Assumed,
     "between the 4.1e-6 of MPI in 2005 (Liu, Mamidala, Vishnu and Panda, IEEE Micro) and the "
     "1.8e-6 in the manual of QLogic's adapters"},
    {Key::NetworkSegment, 1 << 20, Origin::Assumed, "long enough for latency to be negligible"},
    {Key::RemoteRate, 0, Origin::Published, "the boards are in the host"},
    {Key::RemoteRtt, 0, Origin::Published, "the boards are in the host"},
    {Key::RemoteMtu, 1500, Origin::Assumed, "Ethernet without jumbo frames"},
    {Key::RemoteWindow, 1e9, Origin::Assumed, "10 Gbit/s for 0.8 s: no limit in most networks"},
    {Key::RemoteLoss, 0, Origin::Assumed, "a path without congestion"},
    {Key::RemoteStreams, 1, Origin::Assumed, "one connection"},
};

constexpr Value measured_products{
    Key::BoardProductShare, 0.8, Origin::Published,
    "PC Watch, July 2010: products of matrices in the run of HPL reached 80 % of peak"};
constexpr Value slow_clock{Key::ChipClock, 400e6, Origin::Published,
                           "clock at which boards were operated"};

constexpr std::string_view division_of_plan =
    "the division of the 4096 chips is commonly recalled, not verified";

void set_values(Machine& machine, std::span<const Value> values) {
  for (const Value& v : values) machine.set(v.key, v.value, v.origin, std::string(v.source));
}

/// One board in a node, with the constants of the models of board and host.
Machine base() {
  namespace board = constants;
  namespace host = dense::host;
  const Geometry g;
  Machine m;
  // The sources of constants begin with their origin.
  const auto take = [&m](Key key, const TimeConstant& c) {
    constexpr std::string_view published = "published: ", recalled = "commonly recalled: ";
    std::string_view source = c.source;
    Origin origin = Origin::Published;
    if (source.find("assumed") != std::string_view::npos) {
      origin = Origin::Assumed;
    } else if (source.starts_with(recalled)) {
      origin = Origin::Recalled;
      source.remove_prefix(recalled.size());
    } else if (source.starts_with(published)) {
      source.remove_prefix(published.size());
    }
    m.set(key, c.value, origin, std::string(source));
  };
  take(Key::ChipClock, board::chip_clock);
  take(Key::ChipPortIn, board::port_in);
  take(Key::ChipPortOut, board::port_out);
  take(Key::BoardMemoryBandwidth, board::dram);
  take(Key::LinkWrite, board::link_write);
  take(Key::LinkRead, board::link_read);
  take(Key::HostProduct, host::product_rate);
  take(Key::HostMemoryBandwidth, host::memory);
  take(Key::HostCacheLine, host::cache_line);
  m.set(Key::ChipBlocks, g.blocks, Origin::Published, "16 broadcast blocks");
  m.set(Key::ChipPes, g.pes_per_block, Origin::Published, "32 PEs in each");
  m.set(Key::ChipBroadcastWords, g.broadcast_words, Origin::Published, "1024 long words a block");
  m.set(Key::BoardChips, g.chips_per_board, Origin::Published, "four chips a board");
  m.set(Key::BoardMemory, static_cast<double>(g.dram_bytes), Origin::Assumed,
        "the emulated board's default");
  m.set(Key::BoardProductShare, 1, Origin::Assumed, "no limit besides the model of the steps");
  m.set(Key::NodeBoards, 1, Origin::Published, "one board in every node");
  set_values(m, common);
  return m;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> list = {
      {"board4",
       "one board of four chips at 400 MHz in a Core i7-920",
       {slow_clock,
        {Key::HostMemory, 24e9, Origin::Derived,
         "the published LU of N = 51200 needs 21e9, more than the 18e9 of the cluster's nodes"}}},
      {"chip",
       "one chip at its design clock of 500 MHz, on a board of its own",
       {{Key::BoardChips, 1, Origin::Published, "the particle kernels' figures are of one chip"},
        {Key::ChipPower, 65, Origin::Published, "at 500 MHz"}}},
      {"cluster64",
       "the cluster of June 2010: 64 nodes, a board each, 4x DDR InfiniBand",
       {slow_clock,
        measured_products,
        {Key::NetworkNodes, 64, Origin::Published, "press releases of July 2010"}}},
      {"cluster128",
       "the set-up of 128 nodes, a board each, 4x DDR InfiniBand",
       {slow_clock,
        measured_products,
        {Key::NetworkNodes, 128, Origin::Published, "the original's documents"}}},
      {"plan4096",
       "the plan of 4096 chips at 500 MHz: 512 nodes with two boards each",
       {{Key::ChipPower, 65, Origin::Published, "at 500 MHz"},
        {Key::BoardProductShare, 0.8, Origin::Assumed, "as on the 64 nodes of June 2010"},
        {Key::NodeBoards, 2, Origin::Recalled, division_of_plan},
        {Key::NetworkNodes, 512, Origin::Recalled, division_of_plan}}},
  };
  return list;
}

Machine preset(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Preset& p : presets()) {
    known.push_back(p.name);
    if (p.name != name) continue;
    Machine machine = base();
    machine.name = p.name;
    machine.summary = p.summary;
    set_values(machine, p.values);
    return machine;
  }
  throw Error(ErrorCategory::Usage, unknown_name("machine", name, known) +
                                        "; a machine of your own is given as a file, NAME.json");
}

}  // namespace gdr::predict
