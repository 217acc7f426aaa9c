// The settings of a run, from options and from a configuration file, through one table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/relay/namespaces.hpp"
#include "libgdr/relay/router.hpp"

namespace gdr::relay {

/// TCP connections to `listen`, of this host, that are continued to `forward` through a port.
struct Forwarding {
  std::string listen, forward;  ///< HOST:PORT
  LinkPair links;
};

struct Settings {
  std::string server, client;  ///< shell commands; none with ports
  LinkPair links;              ///< of the commands, and of ports without links of their own
  std::optional<LinkPair> line;
  std::vector<Forwarding> ports;
  CutOptions cuts;
  std::vector<Rule> rules;
  NamespaceOptions hosts;
  std::uint64_t seed = 1;
  int port = 0;                                 ///< TCP port that the server listens on; 0: any
  Time server_wait = std::chrono::seconds(30);  ///< until the server listens
  std::optional<Time> time_limit, linger;
  Time step = std::chrono::microseconds(100);
  std::string json, capture;          ///< files
  std::size_t capture_bytes = 65535;  ///< of each packet
  bool quiet = false, watch = false;
};

/// A setting: an option `--name`, and a value of the configuration file.
struct SettingInfo {
  std::string_view name, type, description;
  void (*set)(Settings&, const std::string&);
  bool repeatable = false;
};
std::span<const SettingInfo> setting_table() noexcept;

/// Applies a file of JSON: an object with values of the table by name, texts or numbers, lists for
/// those that may be repeated; `ports`, a list of objects with `listen`, `forward` and values of
/// their links (rate, rtt, delay, loss, loss-period, queue, merge); and `line`, an object with
/// values of the links on which all ports merge. Throws Error (Usage) naming what is wrong.
void apply_file(Settings& settings, const std::string& file);

/// What the router needs. Throws Error (Usage) if settings contradict each other.
RouterOptions router_options(const Settings& settings);

}  // namespace gdr::relay
