// The published figures of long fat networks, each simulated under the conditions of its
// publication. Conditions that the publications do not give are assumed here, for all rows alike
// where they concern several, and stand in PublishedFigure::assumed.
#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "emulator/host/run_beside.hpp"
#include "libgdr/predict/published.hpp"
#include "libgdr/predict/streams.hpp"

namespace gdr::predict {
namespace {

constexpr double gigabit = 1e9 / 8, megabyte = 1e6, minute = 60;
/// More than any window.
constexpr double unlimited = 1e15;
constexpr std::string_view machine = "network";
/// A router's queue that counts packets, not bytes: with a queue in bytes small packets find room
/// more easily than large ones, and the stream of 1500 would win (tests/predict/streams_test.cpp).
constexpr double router_queue = 40;
/// Random delay of packets on their way to the router, seconds. The only value that is tuned to
/// published figures, those of two streams: it decides how often both lose packets together.
constexpr double router_jitter = 54e-6;

const char* const cern = "CERN and Caltech, DataTAG project, about 2003, as commonly quoted";
const char* const tokyo = "Data Reservoir project, University of Tokyo, as commonly quoted";

/// A Reno stream alone on 1 Gbit/s, with 120 ms and segments of 1460 bytes: minutes between two
/// losses, in which it grows from half of the rate to the rate.
double recovery_minutes(bool delayed_acks) {
  Stream stream;
  stream.rtt = 0.12;
  stream.delayed_acks = delayed_acks;
  Path path;
  path.rate = gigabit / payload_share(stream.mtu);
  const double seconds = 3 * recovery_time(gigabit, stream.rtt, mss_of(stream.mtu), delayed_acks);
  return simulate_streams(path, {stream}, seconds).streams[0].cycle / minute;
}

/// Throughputs, bytes/s.
struct TwoStreams {
  double fast = 0, given = 0;
};

/// Two Reno streams on 1 Gbit/s, one of them given, the other with 117 ms and packets of 9000:
/// averages over `seconds`, from the start, as in the publication.
TwoStreams beside_fast(const Stream& other, double seconds) {
  Stream fast;
  fast.rtt = 0.117;
  fast.mtu = 9000;
  fast.delayed_acks = true;
  Path path;
  path.rate = gigabit;
  path.queue_packets = router_queue;
  path.jitter = router_jitter;
  const StreamsResult result = simulate_streams(path, {fast, other}, seconds);
  return {result.streams[0].throughput, result.streams[1].throughput};
}

/// Four streams with different windows, all above their share, of which a merger with a large
/// memory sends a packet in turn.
double slowest_merged() {
  Path path;
  path.rate = 10 * gigabit;
  path.merge = Merge::RoundRobin;
  path.queue_packets = unlimited;
  path.queue_bytes = 2000 * megabyte;
  std::vector<Stream> streams(4);
  for (std::size_t s = 0; s < streams.size(); ++s) {
    streams[s].rtt = 0.5;
    streams[s].mtu = 9000;
    streams[s].window = (200 + 100 * static_cast<double>(s)) * megabyte;
  }
  const StreamsResult result = simulate_streams(path, streams, 20, 15);
  double slowest = unlimited;
  for (const StreamResult& s : result.streams) slowest = std::min(slowest, s.throughput);
  return slowest / gigabit;
}

/// Memory that a paced stream with a window of 600 MB fills before a line of `rate`.
double filled_queue(double rate) {
  Path path;
  path.rate = rate;
  path.queue_packets = path.queue_bytes = unlimited;
  Stream stream;
  stream.rtt = 0.4;
  stream.mtu = 9000;
  stream.window = 600 * megabyte;
  stream.control = Congestion::Paced;
  stream.pace = 8 * gigabit;
  return simulate_streams(path, {stream}, 5).largest_queue / megabyte;
}

double throughput_of_window(double window, double mtu) {
  Path path;
  path.rate = 10 * gigabit;
  path.queue_packets = unlimited;
  Stream stream;
  stream.rtt = 0.2;
  stream.mtu = mtu;
  stream.window = window;
  return simulate_streams(path, {stream}, 30, 10).throughput;
}

}  // namespace

std::vector<PublishedFigure> published_network_figures() {
  std::vector<PublishedFigure> rows;
  const auto add = [&rows](std::string what, std::string unit, double published, double predicted,
                           double required, std::string source, std::string assumed,
                           std::string tuned = {}) {
    rows.push_back({std::move(what), std::string(machine), std::move(unit), published, predicted,
                    std::move(source), std::move(tuned), required, std::move(assumed)});
  };
  const std::string payload = "1 Gbit/s of payload, as in the published formula C RTT^2 / (2 MSS)";
  add("recovery of a Reno stream, 1 Gbit/s, 120 ms", "min", 10.3, recovery_minutes(false), 0.05,
      cern, payload);
  add("the same with delayed acknowledgements", "min", 20.6, recovery_minutes(true), 0.05, cern,
      payload);

  const std::string router =
      "a router's queue of 40 packets, delayed acknowledgements, a random delay of up to 54 us "
      "(tuned); mean from the start to ";
  const std::string tuned = "random delay";
  Stream small;
  small.rtt = 0.117;
  small.delayed_acks = true;
  small.start = 0.05;
  Stream far = small;
  far.rtt = 0.181;
  far.mtu = 9000;
  auto beside_small = run_beside([&small] { return beside_fast(small, 4000); });
  const TwoStreams distances = beside_fast(far, 7000);
  const TwoStreams sizes = beside_small.get();
  add("MTU 9000 against 1500 on 1 Gbit/s, 117 ms", "times", 14, sizes.fast / sizes.given, 0.2, cern,
      router + "4000 s", tuned);
  const std::string far_router = router + "7000 s; MTU 9000 for both";
  add("117 ms beside 181 ms on 1 Gbit/s", "Mbit/s", 514, 1e3 * distances.fast / gigabit, 0.2, cern,
      far_router, tuned);
  add("181 ms beside 117 ms on 1 Gbit/s", "Mbit/s", 202, 1e3 * distances.given / gigabit, 0.2, cern,
      far_router, tuned);

  add("slowest of 4 merged streams, 10 Gbit/s, 500 ms", "Gbit/s", 2.5, slowest_merged(), 0.1, tokyo,
      "MTU 9000, windows of 200, 300, 400 and 500 MB, a memory of 2 GB");
  const std::string distance = "RTT 400 ms (393 ms would give 507 MB); MTU 9000; paced at 8 Gbit/s";
  add("buffer for a window of 600 MB at 2 Gbit/s", "MB", 507, filled_queue(2 * gigabit), 0.1, tokyo,
      distance);
  add("the same at 1 Gbit/s; a buffer of 537 overflows", "MB", 537, filled_queue(gigabit), 0.1,
      tokyo, distance + "; 537 MB is taken for a memory of 2^29 bytes");
  add("unmodified client over 200 ms", "Mbit/s", 3,
      1e3 * throughput_of_window(65535, 1500) / gigabit, 9, tokyo,
      "RTT 200 ms, the largest window without scaling, 65535 bytes");
  add("the same with a large window, 10 Gbit/s", "Gbit/s", 6.5,
      throughput_of_window(245 * megabyte, 9000) / gigabit, 9, tokyo,
      "RTT 200 ms, MTU 9000, a window just below rate times RTT; no limit of the hosts");
  return rows;
}

}  // namespace gdr::predict
