// Published figures of congestion controls, of hosts and of disks at the ends of long networks,
// each simulated with conditions that PublishedFigure::assumed states.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "libgdr/predict/published.hpp"
#include "libgdr/predict/response.hpp"
#include "libgdr/predict/streams.hpp"

namespace gdr::predict {
namespace {

constexpr double one_gigabit = 1e9 / 8;

const char* const tokyo_papers = "Data Reservoir project, University of Tokyo, as commonly quoted";

/// Share of a line of 10 Gbit/s that one stream uses over 180 ms, which loses each
/// 200 millionth packet.
double utilisation_10g(Congestion control) {
  Stream stream;
  stream.control = control;
  stream.rtt = 0.18;
  stream.mtu = 9000;
  Path path;
  path.jitter = 0;
  path.rate = 10 * one_gigabit;
  path.queue_packets = 1000;
  path.loss = 5e-9;
  path.periodic_loss = true;
  return 100 * simulate_streams(path, {stream}, 20000, 4000).utilisation;
}

/// Share of 100 Mbit/s that Reno's payload uses with a loss of a hundredth.
double utilisation_100m(double rtt) {
  Stream stream;
  stream.rtt = rtt;
  stream.mtu = 1500 + segment_headers;
  Path path;
  path.jitter = 0;
  path.rate = one_gigabit / 10;
  path.queue_packets = 100;
  path.loss = 0.01;
  path.periodic_loss = true;
  return 100 * simulate_streams(path, {stream}, 2000, 100).throughput / path.rate;
}

/// Gbit/s of one stream on 10 Gbit/s between hosts with a bus of 64 bits and 133 MHz, in whose
/// bursts of 4096 bytes 512 of 572 clocks carry data. The 60 clocks between bursts are assumed.
double host_limited(double rtt, double mtu) {
  Stream stream;
  stream.rtt = rtt;
  stream.mtu = mtu;
  stream.host_rate = 133.33e6 * 8 * 512 / 572;
  Path path;
  path.jitter = 0;
  path.rate = 10 * one_gigabit;
  path.queue_packets = 1e15;
  path.queue_bytes = path.rate * rtt;
  return simulate_streams(path, {stream}, 120, 60).throughput / one_gigabit;
}

Stream recovering(Congestion control) {
  Stream stream;
  stream.control = control;
  stream.rtt = 0.128;
  stream.delayed_acks = true;
  return stream;
}

/// Seconds from a loss, of which a full queue of 40 packets is the reason, to the next.
double recovery_seconds(Congestion control) {
  Path path;
  path.jitter = 0;
  path.rate = one_gigabit;
  const double seconds = control == Congestion::Reno ? 5000 : 300;
  return simulate_streams(path, {recovering(control)}, seconds).streams[0].cycle;
}

/// Mbit/s from disk to disk over 1 Gbit/s and 177 ms.
double disk_to_disk(Congestion control) {
  Stream stream;
  stream.control = control;
  stream.rtt = 0.177;
  stream.mtu = 9000;
  stream.host_rate = 1.25 * one_gigabit * (1 - 0.3);
  Path path;
  path.jitter = 0;
  path.rate = one_gigabit;
  path.loss = 1e-7;
  path.periodic_loss = true;
  return 1e3 * simulate_streams(path, {stream}, 40000, 2000).throughput / one_gigabit;
}

}  // namespace

std::vector<PublishedFigure> published_congestion_figures() {
  std::vector<PublishedFigure> rows;
  const auto add = [&rows](std::string what, std::string unit, double published, double predicted,
                           double required, std::string source, std::string assumed,
                           std::string tuned = {}) {
    rows.push_back({std::move(what), "network", std::move(unit), published, predicted,
                    std::move(source), std::move(tuned), required, std::move(assumed)});
  };
  const std::string path_10g =
      "MTU 9000, a queue of 1000 packets, backlog of FAST 10 packets; a packet in 2e8 is lost "
      "(tuned to Reno's figure)";
  const char* const caltech = "FAST project, Caltech, as commonly quoted";
  add("FAST on 10 Gbit/s, 180 ms", "%", 90, utilisation_10g(Congestion::Fast), 0.1, caltech,
      path_10g, "loss");
  add("Reno on the same path", "%", 70, utilisation_10g(Congestion::Reno), 0.1, caltech, path_10g,
      "loss");
  const char* const formula = "1.22 MSS / (RTT sqrt(p)), as commonly quoted";
  add("Reno with loss 0.01, LAN", "%", 99, utilisation_100m(0.0005), 0.1, formula,
      "100 Mbit/s, RTT 0.5 ms, MSS 1500, periodic losses");
  add("Reno with loss 0.01, WAN", "%", 1.2, utilisation_100m(0.12), 0.1, formula,
      "100 Mbit/s, RTT 120 ms, MSS 1500, periodic losses");
  const std::string bus =
      "hosts with a bus of 64 bits and 133 MHz (8.53 Gbit/s), of whose clocks a burst of 4096 "
      "bytes is assumed to use 512 of 572 for data: 7.64 Gbit/s; the line itself would carry 9.5 "
      "and 9.9";
  add("one stream on 10 Gbit/s, 433 ms, MTU 1500", "Gbit/s", 7.57, host_limited(0.433, 1500), 0.1,
      tokyo_papers, bus);
  add("one stream on 10 Gbit/s, 498 ms, MTU 9000", "Gbit/s", 7.21, host_limited(0.498, 9000), 0.1,
      tokyo_papers, bus);
  const std::string recovery =
      "delayed acknowledgements, MSS 1460; published are 'about 20 min', 'rapid' and 'very fast': "
      "the seconds of the last two are integrals of the papers' laws, computed apart from this "
      "program";
  add("recovery of Reno from one loss, 1 Gbit/s, 128 ms", "s", 1200,
      recovery_seconds(Congestion::Reno), 0.25, tokyo_papers, recovery);
  // HighSpeed: RTT times the integral of dw / (a(w) / 2) from (1 - b(W)) W to W, with the rounded
  // p(w) = 0.078 / w^1.2 of RFC 3649, section 5, in a(w) = 2 w^2 b p / (2 - b), and the segments of
  // the full line, W = 10403. Half of a(w) because of the delayed acknowledgements.
  add("the same, HighSpeed", "s", 19.85, recovery_seconds(Congestion::HighSpeed), 0.25,
      std::string(congestion_law(Congestion::HighSpeed).source), recovery);
  // Scalable: ln(1 / 0.875) / ln(1 + 0.01 / 2) round trips at any rate (Kelly 2003, where all
  // packets are acknowledged: 13.42).
  add("the same, Scalable", "s", 0.128 * std::log(1 / 0.875) / std::log(1.005),
      recovery_seconds(Congestion::Scalable), 0.25,
      std::string(congestion_law(Congestion::Scalable).source), recovery);
  const std::string disk =
      "MTU 9000; disks write 1250 Mbit/s, 30 % less while packets arrive (tuned to Scalable's "
      "figure); a packet in 1e7 is lost (tuned to Reno's figure)";
  add("disk to disk, 1 Gbit/s, 177 ms, Reno", "Mbit/s", 825, disk_to_disk(Congestion::Reno), 0.1,
      tokyo_papers, disk, "loss, disk rate");
  add("the same, Scalable", "Mbit/s", 875, disk_to_disk(Congestion::Scalable), 0.1, tokyo_papers,
      disk, "loss, disk rate");
  return rows;
}

std::vector<PublishedFigure> published_response_figures() {
  std::vector<PublishedFigure> rows;
  const std::vector<ResponsePoint> points = response_functions(1e-5);
  for (std::size_t c = 0; c < congestion_laws().size(); ++c)
    for (const double rtt : response_rtts) {
      // The point that deviates most.
      const ResponsePoint* worst = nullptr;
      const auto deviation = [](const ResponsePoint& p) {
        return std::abs(p.simulated / *p.closed_form - 1);
      };
      for (const ResponsePoint& p : points)
        if (p.control == static_cast<Congestion>(c) && p.rtt == rtt && is_compared(p) &&
            (!worst || deviation(p) > deviation(*worst)))
          worst = &p;
      if (!worst) continue;
      char loss[32];
      std::snprintf(loss, sizeof loss, "%.2g", worst->loss);
      rows.push_back({"response of " + std::string(congestion_name(worst->control)) + ", " +
                          std::to_string(std::lround(1e3 * rtt)) + " ms, loss " + loss,
                      "network", "Mbit/s", 8e-6 * *worst->closed_form, 8e-6 * worst->simulated,
                      std::string(response_source(worst->control)), "", 0.1,
                      "the loss rate from 1e-3 to 1e-5 with the largest deviation from the closed "
                      "form; packets of 1500 bytes, no queue, periodic losses (Scalable: random), "
                      "windows up to 10 Gbit/s"});
    }
  return rows;
}

}  // namespace gdr::predict
