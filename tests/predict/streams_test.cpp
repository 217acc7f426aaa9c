// Simulated streams against closed forms: windows, losses, recovery, queues and shares.
#include "libgdr/predict/streams.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gdr/error.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"

using namespace gdr;
using namespace gdr::predict;

namespace {

constexpr double megabit = 1e6 / 8;

Stream stream_of(double rtt, double mtu) {
  Stream stream;
  stream.rtt = rtt;
  stream.mtu = mtu;
  return stream;
}

Path path_of(double rate, double queue_packets) {
  Path path;
  path.rate = rate;
  path.queue_packets = queue_packets;
  return path;
}

double alone(const Path& path, const Stream& stream, double seconds, double warm_up = 0) {
  return simulate_streams(path, {stream}, seconds, warm_up).streams[0].throughput;
}

}  // namespace

TEST_CASE("a window allows its bytes for each round trip") {
  for (const double rtt : {0.01, 0.2})
    for (const double segments : {10.0, 44.0}) {
      Stream stream = stream_of(rtt, 1500);
      stream.window = segments * mss_of(stream.mtu);
      INFO(rtt << " s, " << segments << " segments");
      // The segments also take their time on the line.
      CHECK(alone(path_of(1000 * megabit, 1000), stream, 100, 10) ==
            Approx(window_limit(stream.window, rtt)).epsilon(0.02));
    }
  CHECK(window_limit(65535, 0.2) == Approx(327675));
}

TEST_CASE("a Reno stream recovers from a loss in C RTT^2 / (2 MSS), twice that with delayed acks") {
  for (const double rtt : {0.06, 0.12})
    for (const bool delayed : {false, true}) {
      Stream stream = stream_of(rtt, 1500);
      stream.delayed_acks = delayed;
      constexpr double rate = 200 * megabit;
      const double expected = recovery_time(rate, rtt, mss_of(stream.mtu), delayed);
      const Path path = path_of(rate / payload_share(stream.mtu), 20);
      INFO(rtt << " s");
      const StreamsResult result = simulate_streams(path, {stream}, 4 * expected);
      CHECK(result.streams[0].reductions >= 2);
      CHECK(result.streams[0].cycle == Approx(expected).epsilon(0.05));
    }
  // The published case, computed by hand: 125e6 * 0.0144 / 2920 s.
  CHECK(recovery_time(125e6, 0.12, 1460, false) == Approx(616.4).epsilon(1e-4));
}

TEST_CASE("random losses limit Reno as Mathis and others derived, and each stream alone") {
  for (const double loss : {1e-3, 2e-4})
    for (const bool delayed : {false, true}) {
      Stream stream = stream_of(0.05, 1500);
      stream.delayed_acks = delayed;
      Path path = path_of(1000 * megabit, 1e6);
      path.loss = loss;
      INFO("loss " << loss << (delayed ? ", delayed" : ""));
      CHECK(alone(path, stream, 3000, 20) ==
            Approx(loss_limit(1460, 0.05, loss, delayed)).epsilon(0.12));
    }
  Path path = path_of(1000 * megabit, 1e6);
  path.loss = 1e-3;
  const Stream one = stream_of(0.05, 1500);
  const StreamsResult eight = simulate_streams(path, std::vector<Stream>(8, one), 300, 20);
  CHECK(eight.throughput == Approx(8 * alone(path, one, 1000, 20)).epsilon(0.15));
}

TEST_CASE("a scalable stream recovers in a number of round trips that no rate changes") {
  // An eighth at one percent for each round trip: ln(8 / 7) / ln(1.01) = 13.4.
  for (const double rate : {50 * megabit, 400 * megabit}) {
    Stream stream = stream_of(0.1, 1500);
    stream.control = Congestion::Scalable;
    const StreamsResult result = simulate_streams(path_of(rate, 40), {stream}, 150, 75);
    INFO(rate);
    CHECK(result.streams[0].cycle == Approx(1.34).epsilon(0.25));
    CHECK(result.streams[0].throughput > 0.8 * rate * payload_share(1500));
  }
}

TEST_CASE("a delay-based stream keeps its segments in the queue and loses nothing") {
  Stream stream = stream_of(0.05, 1500);
  stream.control = Congestion::Fast;
  stream.backlog = 20;
  const Path path = path_of(100 * megabit, 1000);
  const StreamsResult result = simulate_streams(path, {stream}, 60, 20);
  CHECK(result.utilisation > 0.97);
  CHECK(result.streams[0].losses == 0);
  const double window = path.rate / 1538 * 0.05 + 20;
  CHECK(result.streams[0].window / 1460 == Approx(window).epsilon(0.03));
  // Two of them share equally.
  const StreamsResult two = simulate_streams(path, {stream, stream}, 100, 40);
  CHECK(two.streams[0].throughput == Approx(two.streams[1].throughput).epsilon(0.15));
}

TEST_CASE("FAST streams that share a line each get their backlog over the time that packets wait") {
  // Jin, Wei and Low 2004: in equilibrium a stream has throughput alpha / q.
  std::vector<Stream> streams(3, stream_of(0.05, 1500));
  for (std::size_t s = 0; s < 3; ++s) {
    streams[s].control = Congestion::Fast;
    streams[s].backlog = 10 * static_cast<double>(s + 1);
    streams[s].threshold = 20 * 1460;
  }
  const StreamsResult r = simulate_streams(path_of(100 * megabit, 2000), streams, 150, 75);
  CHECK(r.utilisation > 0.98);
  for (std::size_t s = 0; s < 3; ++s)
    CHECK(r.streams[s].throughput / r.throughput == Approx(streams[s].backlog / 60).epsilon(0.1));
}

TEST_CASE("Grid DT's increase gives streams with different round trips the same rate") {
  Stream near = stream_of(0.03, 1500), far = stream_of(0.06, 1500);
  const auto ratio = [&](Congestion control) {
    near.control = far.control = control;
    near.reference = far.reference = 0.06;
    const StreamsResult r = simulate_streams(path_of(20 * megabit, 40), {near, far}, 1000, 200);
    return r.streams[0].throughput / r.streams[1].throughput;
  };
  CHECK(ratio(Congestion::Reno) > 1.5);
  CHECK(ratio(Congestion::GridDt) == Approx(1).epsilon(0.3));
}

TEST_CASE("Westwood's window after a loss is what the line holds without a queue") {
  Stream stream = stream_of(0.1, 1500);
  stream.control = Congestion::Westwood;
  Path path = path_of(50 * megabit, 200);
  const StreamsResult lost = simulate_streams(path, {stream}, 200, 50);
  CHECK(lost.streams[0].reductions > 2);
  CHECK(lost.utilisation > 0.97);
  // Losses elsewhere cost Reno most of the line, Westwood little.
  path.loss = 1e-4;
  const StreamsResult westwood = simulate_streams(path, {stream}, 200, 50);
  stream.control = Congestion::Reno;
  CHECK(westwood.utilisation > 2 * simulate_streams(path, {stream}, 200, 50).utilisation);
}

TEST_CASE("packets at equal distances need a smaller queue than bursts") {
  Stream stream = stream_of(0.1, 1500);
  stream.window = 200 * 1460;
  const Path path = path_of(100 * megabit, 1e15);
  const StreamsResult bursts = simulate_streams(path, {stream}, 20);
  stream.pacing = true;
  const StreamsResult paced = simulate_streams(path, {stream}, 20);
  CHECK(bursts.largest_queue > 10 * paced.largest_queue);
  CHECK(paced.throughput == Approx(bursts.throughput).epsilon(0.05));
}

TEST_CASE("hosts that take less than the line limit a stream, and it loses nothing") {
  Stream stream = stream_of(0.1, 1500);
  stream.host_rate = 30 * megabit;
  const StreamsResult r = simulate_streams(path_of(100 * megabit, 1000), {stream}, 200, 50);
  CHECK(r.throughput == Approx(stream.host_rate).epsilon(0.02));
  CHECK(r.streams[0].losses == 0);
}

TEST_CASE("a stream that its window or hosts limit never gets more than they allow after a loss") {
  for (const Congestion control : {Congestion::Scalable, Congestion::Reno, Congestion::Cubic})
    for (const double share : {0.5, 0.9, 1.5}) {
      const double allowed = share * 20 * megabit;
      Stream by_window = stream_of(0.1, 1500), by_host = by_window;
      by_window.control = by_host.control = control;
      by_window.window = allowed * by_window.rtt;
      by_host.host_rate = allowed;
      Path path = path_of(20 * megabit, 1000);
      path.loss = 1e-4;
      path.periodic_loss = true;
      INFO(congestion_name(control) << " at " << share << " of the line");
      for (const Stream& stream : {by_window, by_host}) {
        const StreamsResult r = simulate_streams(path, {stream}, 200, 20);
        CHECK(r.streams[0].losses > 0);
        CHECK(r.throughput <= 1.001 * std::min(allowed, 20 * megabit));
        CHECK(r.throughput > 0.4 * std::min(allowed, 20 * megabit));
      }
    }
}

TEST_CASE("HighSpeed takes a tenth of windows beyond its high window, and no less") {
  CHECK(law::highspeed_decrease(38) == 0.5);
  CHECK(law::highspeed_decrease(83000) == Approx(0.1));
  for (const double window : {83001.0, 1e6, 1e9}) {
    CHECK(law::highspeed_decrease(window) == 0.1);
    WindowState state;
    state.window = window;
    CHECK(congestion_law(Congestion::HighSpeed).decrease(state, window) == Approx(0.9 * window));
    CHECK(law::highspeed_increase(window) > law::highspeed_increase(80000));
  }
}

TEST_CASE("a rate of hosts of less than ten segments in a round trip is refused") {
  Stream stream = stream_of(1e-4, 1500);
  stream.host_rate = 1e6;
  gdr::test::expect_error(ErrorCategory::Usage, {"host rate", "10 segments", "1.46e+08"},
                          [&] { simulate_streams(Path(), {stream}, 1); });
  stream.host_rate = 1.5e8;
  CHECK(alone(path_of(2.5e8, 1000), stream, 1) <= stream.host_rate);
}

TEST_CASE("time that passes without simulated packets changes no result") {
  // A queue that just holds the backlog, or the window, with losses at known packets.
  for (const Congestion control : {Congestion::Fast, Congestion::Reno}) {
    Stream stream = stream_of(0.02, 1500);
    stream.control = control;
    stream.window = 200 * 1460;
    Path path = path_of(100 * megabit, 1000);
    path.jitter = 0;
    path.loss = 1e-5;
    path.periodic_loss = true;
    const StreamsResult alone = simulate_streams(path, {stream}, 200, 50);
    // A second stream of two segments prevents it.
    Stream idle = stream;
    idle.window = 2 * 1460;
    const StreamsResult both = simulate_streams(path, {stream, idle}, 200, 50);
    INFO(congestion_name(control));
    CHECK(alone.streams[0].throughput ==
          Approx(both.streams[0].throughput + both.streams[1].throughput).epsilon(0.01));
    CHECK(std::abs(static_cast<double>(alone.streams[0].reductions) -
                   static_cast<double>(both.streams[0].reductions)) <= 2);
  }
}

TEST_CASE("a paced stream sends at its rate, or at the rate that it finds") {
  Stream stream = stream_of(0.1, 1500);
  stream.control = Congestion::Paced;
  stream.pace = 40 * megabit;
  Path path = path_of(100 * megabit, 10);
  const StreamsResult fixed = simulate_streams(path, {stream}, 20, 5);
  CHECK(fixed.throughput == Approx(stream.pace).epsilon(0.01));
  CHECK(fixed.overflows == 0);
  stream.pace = 0;
  path.queue_packets = 1000;
  const StreamsResult found = simulate_streams(path, {stream}, 60, 20);
  CHECK(found.utilisation > 0.9);
  CHECK(found.utilisation <= 1.001);
  // A loss of one in thousand hardly changes it, while Reno would get 4.5 Mbit/s.
  path.loss = 1e-3;
  CHECK(alone(path, stream, 60, 20) > 85 * megabit);
}

TEST_CASE("a window beyond rate times round trip waits in the queue") {
  Stream stream = stream_of(0.1, 9000);
  stream.window = 5e6;
  stream.control = Congestion::Paced;
  stream.pace = 300 * megabit;
  Path path = path_of(200 * megabit, 1e15);
  const double on_wire = std::floor(5e6 / 8960) * 9038;
  CHECK(simulate_streams(path, {stream}, 5).largest_queue ==
        Approx(on_wire - path.rate * 0.1).epsilon(0.01));
  CHECK(simulate_streams(path, {stream}, 5).overflows == 0);
  path.queue_bytes = 2e6;
  const StreamsResult small = simulate_streams(path, {stream}, 5);
  CHECK(small.overflows > 0);
  CHECK(small.largest_queue <= 2e6);
}

TEST_CASE("merging in turn gives equal shares, a common queue shares in proportion to windows") {
  Path path = path_of(100 * megabit, 1e15);
  std::vector<Stream> streams(4, stream_of(0.1, 1500));
  for (std::size_t s = 0; s < 4; ++s) streams[s].window = 1e6 * static_cast<double>(s + 1);
  path.merge = Merge::RoundRobin;
  const StreamsResult merged = simulate_streams(path, streams, 40, 20);
  path.merge = Merge::Fifo;
  const StreamsResult common = simulate_streams(path, streams, 40, 20);
  for (std::size_t s = 0; s < 4; ++s) {
    CHECK(merged.streams[s].throughput == Approx(merged.throughput / 4).epsilon(0.01));
    CHECK(common.streams[s].throughput ==
          Approx(common.throughput * static_cast<double>(s + 1) / 10).epsilon(0.02));
  }
  CHECK(merged.utilisation == Approx(1).epsilon(0.001));
}

TEST_CASE("a queue that counts packets favours large packets, one that counts bytes does not") {
  Stream large = stream_of(0.03, 9000), small = stream_of(0.03, 1500);
  large.delayed_acks = small.delayed_acks = true;
  const auto ratio = [&](const Path& path) {
    const StreamsResult r = simulate_streams(path, {large, small}, 400, 100);
    CHECK(r.utilisation <= 1);
    return r.streams[0].throughput / r.streams[1].throughput;
  };
  Path bytes = path_of(400 * megabit, 1e15);
  bytes.queue_bytes = 40 * 9038;
  CHECK(ratio(path_of(400 * megabit, 40)) > 5);
  CHECK(ratio(bytes) < 4);
}

TEST_CASE("a seed determines the simulation") {
  Path path = path_of(100 * megabit, 40);
  path.loss = 1e-3;
  const std::vector<Stream> streams(2, stream_of(0.05, 1500));
  const auto run = [&](std::uint64_t seed) {
    return simulate_streams(path, streams, 50, 0, seed).throughput;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("every congestion control has the name that parses to it, and the former name of FAST") {
  for (std::size_t c = 0; c < congestion_laws().size(); ++c)
    CHECK(parse_congestion(congestion_laws()[c].name) == static_cast<Congestion>(c));
  CHECK(parse_congestion("delay") == Congestion::Fast);
  CHECK(congestion_name(Congestion::Paced) == "paced");
}

TEST_CASE("streams and paths outside the model are errors") {
  const auto refused = [](const Path& path, const Stream& stream, double seconds = 10) {
    CHECK_THROWS_AS(simulate_streams(path, {stream}, seconds), Error);
  };
  const Stream good;
  Path path;
  CHECK_THROWS_AS(simulate_streams(path, {}, 10), Error);
  CHECK_THROWS_AS(simulate_streams(path, {good}, 10, 10), Error);
  refused(path, good, 0);
  refused(path, good, std::nan(""));
  path.loss = 0.5;
  refused(path, good);
  path = path_of(0, 40);
  refused(path, good);
  path = path_of(1e6, 0);
  refused(path, good);
  Stream stream;
  stream.rtt = 0;
  refused(Path(), stream);
  stream = Stream();
  stream.mtu = 50;
  refused(Path(), stream);
  stream = Stream();
  stream.window = 100;
  refused(Path(), stream);
  stream = Stream();
  stream.start = 20;
  refused(Path(), stream);
  // More packets than anybody wants to wait for.
  CHECK_THROWS_AS(simulate_streams(path_of(1e14, 1e9), {good}, 1e5, 0, 1, 1e5), Error);
  CHECK_THROWS_AS(parse_congestion("rano"), Error);
  stream = Stream();
  stream.host_rate = 0;
  refused(Path(), stream);
  stream = Stream();
  stream.reference = 0;
  refused(Path(), stream);
}
