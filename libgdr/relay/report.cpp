#include "libgdr/relay/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gdr::relay {
namespace {

constexpr const char* names[] = {"to_server", "to_client"};
constexpr const char* headings[] = {"to server", "to client"};
constexpr Direction directions[] = {Direction::ToServer, Direction::ToClient};

nlohmann::json json_of(const Count& count) {
  return {{"packets", count.packets}, {"bytes", count.bytes}};
}

nlohmann::json json_of(const Counts& counts) {
  const double seconds =
      counts.first_delivery
          ? std::chrono::duration<double>(counts.last_delivery - *counts.first_delivery).count()
          : 0;
  return {{"offered", json_of(counts.offered)},
          {"delivered", json_of(counts.delivered)},
          {"lost", json_of(counts.lost)},
          {"overflowed", json_of(counts.overflowed)},
          {"cut", json_of(counts.cut)},
          {"queue_max_bytes", counts.queue_max},
          {"seconds", seconds},
          {"bits_per_second", counts.throughput()}};
}

/// What happened to the packets of a flow on the link of its port and on the line. `queue_max` is
/// that of the fuller queue.
Counts counts_of(const Router& router, Direction direction, std::size_t flow) {
  Counts counts = router.link(direction, router.flows()[flow].port).flow(flow);
  const Link* const line = router.line(direction);
  if (line == nullptr) return counts;
  const Counts& more = line->flow(flow);
  const auto add = [](Count& count, const Count& other) {
    count.packets += other.packets;
    count.bytes += other.bytes;
  };
  add(counts.lost, more.lost);
  add(counts.overflowed, more.overflowed);
  add(counts.cut, more.cut);
  counts.queued_bytes += more.queued_bytes;
  counts.queue_max = std::max(counts.queue_max, more.queue_max);
  counts.delivered = more.delivered;
  counts.first_delivery = more.first_delivery;
  counts.last_delivery = more.last_delivery;
  return counts;
}

std::string line_of(const Counts& counts) {
  return fmt::format(
      "{} packets, {:.3f} MB delivered, {:.2f} Mbit/s, queue at most {:.3f} MB; "
      "dropped: {} lost, {} queue full, {} cut",
      counts.delivered.packets, static_cast<double>(counts.delivered.bytes) * 1e-6,
      counts.throughput() * 1e-6, static_cast<double>(counts.queue_max) * 1e-6, counts.lost.packets,
      counts.overflowed.packets, counts.cut.packets);
}

}  // namespace

nlohmann::json json_report(const Router& router, const Deviations& deviations) {
  nlohmann::json report{
      {"cuts", router.cuts()},
      {"ignored_packets", router.ignored()},
      {"relay",
       {{"latest_seconds", std::chrono::duration<double>(deviations.latest).count()},
        {"cpu_seconds", deviations.cpu_seconds},
        {"packets_not_read", deviations.not_read},
        {"packets_not_written", deviations.not_written}}},
      {"flows", nlohmann::json::array()}};
  for (const Direction direction : directions) {
    const char* const name = names[index_of(direction)];
    report[name] = json_of(router.link(direction).total());
    if (const Link* line = router.line(direction)) report["line"][name] = json_of(line->total());
    for (std::size_t k = 0; k < router.ports(); ++k)
      report["ports"][k][name] = json_of(router.link(direction, k).total());
  }
  for (std::size_t k = 0; k < router.flows().size(); ++k) {
    const Flow& flow = router.flows()[k];
    nlohmann::json entry{{"protocol", flow.protocol},
                         {"client", to_string(flow.client)},
                         {"server", to_string(flow.server)},
                         {"port", flow.port},
                         {"cut", flow.cut}};
    for (const Direction direction : directions)
      entry[names[index_of(direction)]] = json_of(counts_of(router, direction, k));
    report["flows"].push_back(std::move(entry));
  }
  return report;
}

std::string text_report(const Router& router, const Deviations& deviations, std::size_t flows) {
  std::string text;
  for (std::size_t port = 0; port < router.ports(); ++port)
    for (const Direction direction : directions)
      text += fmt::format(
          "relay: {}{}: {}\n", router.ports() > 1 ? fmt::format("port {}, ", port + 1) : "",
          headings[index_of(direction)], line_of(router.link(direction, port).total()));
  for (const Direction direction : directions)
    if (const Link* line = router.line(direction))
      text += fmt::format("relay: line {}: {}\n", headings[index_of(direction)],
                          line_of(line->total()));
  const std::size_t shown = std::min(flows, router.flows().size());
  for (std::size_t k = 0; k < shown; ++k) {
    const Flow& flow = router.flows()[k];
    for (const Direction direction : directions)
      text += fmt::format("relay: {} - {} {}: {}\n", to_string(flow.client), to_string(flow.server),
                          headings[index_of(direction)], line_of(counts_of(router, direction, k)));
  }
  if (shown < router.flows().size())
    text += fmt::format("relay: {} more flows: --json has all\n", router.flows().size() - shown);
  if (router.cuts() > 0) text += fmt::format("relay: {} cuts\n", router.cuts());
  if (deviations.not_read + deviations.not_written > 0)
    text += fmt::format(
        "relay: the relay itself dropped packets, and the network was worse than asked "
        "for: {} were not read in time, {} not accepted by the kernel\n",
        deviations.not_read, deviations.not_written);
  const double late = std::chrono::duration<double, std::milli>(deviations.latest).count();
  text += fmt::format("relay: packets were delivered up to {:.2f} ms late; {:.2f} s of CPU time\n",
                      late, deviations.cpu_seconds);
  return text;
}

std::string LiveTable::text(const Router& router, Time now) {
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  bytes_.resize(2 * router.flows().size());
  std::string text = fmt::format("{:>8.1f} s {:>5} {:>21} {:>21} {:>10} {:>11} {:>10} {:>8}\n",
                                 std::chrono::duration<double>(now).count(), "port", "client",
                                 "server", "direction", "Mbit/s", "waits, kB", "dropped");
  for (std::size_t k = 0; k < router.flows().size(); ++k)
    for (const Direction direction : directions) {
      const Flow& flow = router.flows()[k];
      const Counts counts = counts_of(router, direction, k);
      const std::uint64_t bytes = counts.delivered.bytes;
      const std::uint64_t before = std::exchange(bytes_[2 * k + index_of(direction)], bytes);
      if (bytes == before && counts.queued_bytes == 0) continue;
      text += fmt::format("{:>10} {:>5} {:>21} {:>21} {:>10} {:>11.3f} {:>10.1f} {:>8}\n", "",
                          flow.port + 1, to_string(flow.client), to_string(flow.server),
                          headings[index_of(direction)],
                          8e-6 * static_cast<double>(bytes - before) / std::max(seconds, 1e-9),
                          1e-3 * static_cast<double>(counts.queued_bytes),
                          counts.lost.packets + counts.overflowed.packets + counts.cut.packets);
    }
  return text;
}

}  // namespace gdr::relay
