#include "network/relay/options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "gdr/error.hpp"

namespace gdr::relay {
namespace {

const std::map<std::string, double> multiples{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
const std::map<std::string, double> seconds{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};

CLI::AsNumberWithUnit with_multiple() {
  return CLI::AsNumberWithUnit(multiples, CLI::AsNumberWithUnit::CASE_SENSITIVE);
}

CLI::AsNumberWithUnit with_time() {
  return CLI::AsNumberWithUnit(
      seconds, static_cast<CLI::AsNumberWithUnit::Options>(CLI::AsNumberWithUnit::CASE_SENSITIVE |
                                                           CLI::AsNumberWithUnit::UNIT_REQUIRED));
}

double of_direction(const std::vector<double>& values, Direction direction) {
  return values[values.size() > 1 ? index_of(direction) : 0];
}

void add_network_options(CLI::App& app, CommandOptions& options) {
  const auto pair = [](CLI::Option* option) { return option->delimiter(',')->expected(1, 2); };
  const std::string group = "Network (A,B: to the server and to the client)";
  pair(app.add_option("--rate", options.rate,
                      "Transmission rate in bit/s, for example 1G or 1G,100M"))
      ->transform(with_multiple())
      ->type_name("BIT/S")
      ->group(group);
  CLI::Option* rtt =
      app.add_option("--rtt", options.rtt, "Propagation delay there and back, for example 200ms");
  rtt->transform(with_time())->type_name("TIME")->group(group);
  pair(app.add_option("--delay", options.delay, "Propagation delay of each direction"))
      ->transform(with_time())
      ->type_name("TIME")
      ->excludes(rtt)
      ->group(group);
  pair(app.add_option("--loss", options.loss, "Probability that a packet is lost"))
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("P")
      ->group(group);
  pair(app.add_option("--queue", options.queue,
                      "Bytes that can wait for transmission; with round-robin of each flow"))
      ->transform(with_multiple())
      ->type_name("BYTES")
      ->group(group);
  app.add_option("--merge", options.merge,
                 "Order of transmission: packets of flows in turn, or fifo")
      ->check(CLI::IsMember({"fifo", "round-robin"}))
      ->group(group);
  app.add_option("--seed", options.seed, "Seed of losses and cuts")->group(group);
  app.add_option("--mtu", options.mtu, "Largest IP packet in bytes")
      ->check(CLI::Range(576, 65535))
      ->type_name("BYTES")
      ->group(group);
}

void add_cut_options(CLI::App& app, CommandOptions& options) {
  const std::string group = "Cut connections";
  app.add_option("--cut-time", options.cut_time, "Mean time between cuts of all TCP connections")
      ->transform(with_time())
      ->type_name("TIME")
      ->group(group);
  app.add_option("--cut-bytes", options.cut_bytes,
                 "Mean number of bytes after which each TCP connection is cut")
      ->transform(with_multiple())
      ->type_name("BYTES")
      ->group(group);
  app.add_option("--cuts", options.cut_limit, "Most cuts of a run")->group(group);
  app.add_option("--cut-reset", options.cut_reset,
                 "Time for which packets disappear before both ends get RST, or never")
      ->transform([](const std::string& text) {
        std::string value = text;
        const std::string problem = text == "never" ? "" : with_time()(value);
        if (!problem.empty()) throw CLI::ValidationError("--cut-reset", problem);
        return value;
      })
      ->type_name("TIME")
      ->group(group);
}

void add_host_options(CLI::App& app, CommandOptions& options) {
  const std::string group = "Both hosts";
  app.add_option("--sysctl", options.sysctls,
                 "NAME=VALUE below net., in both namespaces (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_option("--buffers", options.buffers,
                 "Largest TCP buffers in bytes: the maximum of net.ipv4.tcp_rmem and tcp_wmem")
      ->transform(with_multiple())
      ->type_name("BYTES")
      ->group(group);
  app.add_option("--congestion-control", options.congestion_control,
                 "net.ipv4.tcp_congestion_control")
      ->group(group);
}

void add_run_options(CLI::App& app, CommandOptions& options) {
  const std::string group = "Run";
  app.add_option("--port", options.port, "TCP port that the server opens; 0: any")->group(group);
  app.add_option("--server-wait", options.server_wait, "How long to wait until the server listens")
      ->transform(with_time())
      ->type_name("TIME")
      ->group(group);
  app.add_option("--time-limit", options.time_limit, "End the run after this time, with status 124")
      ->transform(with_time())
      ->type_name("TIME")
      ->group(group);
  app.add_option("--linger", options.linger,
                 "How long the server may run on after the client; default: one RTT")
      ->transform(with_time())
      ->type_name("TIME")
      ->group(group);
  app.add_option("--step", options.step, "Time between two reads of busy devices")
      ->transform(with_time())
      ->type_name("TIME")
      ->group(group);
  app.add_option("--json", options.json, "Write the counts to this file")->group(group);
  app.add_flag("--quiet", options.quiet, "Print no counts")->group(group);
}

}  // namespace

void add_options(CLI::App& app, CommandOptions& options) {
  CLI::Option* check = app.add_flag("--check", options.check,
                                    "Test whether namespaces and TUN devices are available");
  app.add_option("--server", options.server, "Shell command of the server, whose host is 10.77.0.2")
      ->excludes(check);
  app.add_option("--client", options.client, "Shell command of the client, whose host is 10.77.0.1")
      ->excludes(check);
  add_network_options(app, options);
  add_cut_options(app, options);
  add_host_options(app, options);
  add_run_options(app, options);
}

Time time_of(double value) {
  // A year is far below the largest time, and longer than any run.
  if (!(value >= 0 && value <= 3e7))
    throw Error(ErrorCategory::Usage,
                fmt::format("a time of {} s: it must not be negative, nor over a year", value));
  return Time(std::llround(value * 1e9));
}

std::array<LinkOptions, 2> link_options(const CommandOptions& options) {
  std::array<LinkOptions, 2> links;
  for (const Direction direction : {Direction::ToServer, Direction::ToClient}) {
    const double queue = of_direction(options.queue, direction);
    if (!(queue >= 0 && queue <= 1e12))
      throw Error(ErrorCategory::Usage,
                  fmt::format("--queue {}: it must be between 0 and 1e12 bytes", queue));
    LinkOptions& link = links[index_of(direction)];
    link.rate = of_direction(options.rate, direction);
    link.delay =
        time_of(options.delay.empty() ? options.rtt / 2 : of_direction(options.delay, direction));
    link.queue_bytes = static_cast<std::uint64_t>(queue);
    link.loss = of_direction(options.loss, direction);
    link.discipline = options.merge == "fifo" ? Discipline::Fifo : Discipline::RoundRobin;
    link.seed = options.seed;
    link.loss_sequence = direction == Direction::ToServer ? LossToServer : LossToClient;
  }
  return links;
}

CutOptions cut_options(const CommandOptions& options) {
  CutOptions cuts;
  if (options.cut_time) cuts.mean_time = time_of(*options.cut_time);
  if (!(options.cut_bytes >= 0 && options.cut_bytes <= 1e15))
    throw Error(ErrorCategory::Usage, "--cut-bytes must be between 0 and 1e15");
  cuts.mean_bytes = static_cast<std::uint64_t>(options.cut_bytes);
  if (options.cut_limit) cuts.limit = *options.cut_limit;
  cuts.reset_after.reset();
  if (options.cut_reset == "0s")
    cuts.reset_after = Time::zero();
  else if (options.cut_reset != "never")
    cuts.reset_after = time_of(std::stod(options.cut_reset));
  cuts.seed = options.seed;
  return cuts;
}

NamespaceOptions namespace_options(const CommandOptions& options) {
  NamespaceOptions result;
  result.mtu = options.mtu;
  if (options.buffers) {
    if (!(*options.buffers >= 4096 && *options.buffers < 2147483648.0))
      throw Error(ErrorCategory::Usage, "--buffers must be between 4096 and 2147483647 bytes");
    // Minimum and initial size as Linux has them.
    const auto largest = static_cast<std::uint64_t>(*options.buffers);
    result.sysctls.emplace_back("net.ipv4.tcp_rmem", fmt::format("4096 131072 {}", largest));
    result.sysctls.emplace_back("net.ipv4.tcp_wmem", fmt::format("4096 16384 {}", largest));
  }
  if (!options.congestion_control.empty())
    result.sysctls.emplace_back("net.ipv4.tcp_congestion_control", options.congestion_control);
  for (const std::string& setting : options.sysctls) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorCategory::Usage, fmt::format("--sysctl {}: expected NAME=VALUE", setting));
    result.sysctls.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return result;
}

}  // namespace gdr::relay
