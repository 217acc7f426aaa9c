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

/// A value of a link as it was given: `rate`, `rtt`, `delay`, `loss`, `loss-period`, `queue` or
/// `merge`, and its text. Later values of a list replace earlier ones.
struct LinkValue {
  std::string_view name;
  std::string text;
};
using LinkValues = std::vector<LinkValue>;

/// TCP connections to `listen`, of this host, that are continued to `forward` through a port.
struct Forwarding {
  std::string listen, forward;  ///< HOST:PORT
  LinkValues links;             ///< its own values; the others are those of the run
};

struct Settings {
  std::string server, client;  ///< shell commands; none with ports
  LinkValues links;  ///< links of the run: the commands' links, and what ports do not have
  std::optional<LinkValues> line;  ///< own values of the line on which all ports merge
  std::vector<Forwarding> ports;
  CutOptions cuts;
  std::vector<Rule> rules;
  NamespaceOptions hosts;
  std::uint64_t seed = 1;
  int port = 0;                                 ///< TCP port that the server listens on; 0: any
  Time server_wait = std::chrono::seconds(30);  ///< longest time until the server listens
  std::optional<Time> time_limit, linger;
  Time step = std::chrono::microseconds(100);
  std::string json, capture;          ///< files
  std::size_t capture_bytes = 65535;  ///< bytes of each packet
  bool quiet = false, watch = false;
};

/// A setting: an option `--name`, and a value of the configuration file.
struct SettingInfo {
  std::string_view name, type, description;
  void (*set)(Settings&, const std::string&);
  bool repeatable = false;
};
std::span<const SettingInfo> setting_table() noexcept;
/// Sets a value; messages of errors begin with the name of the setting. Throws Error (Usage).
void apply_setting(Settings& settings, const SettingInfo& info, const std::string& text);

/// Applies a file of JSON: an object with values of the table by name, texts or numbers, lists for
/// those that may be repeated; `ports`, a list of objects with `listen`, `forward` and values of
/// their links (rate, rtt, delay, loss, loss-period, queue, merge); and `line`, an object with
/// values of the links on which all ports merge. Throws Error (Usage) naming what is wrong, and Io
/// if the file cannot be read.
void apply_file(Settings& settings, const std::string& file);

/// What the router needs. A port has the values of the run but for its own. So has a line, but
/// without their delays and losses, which act on the ports; it takes packets of streams in turn
/// unless `merge` is given. Throws Error (Usage) if settings contradict each other.
RouterOptions router_options(const Settings& settings);

}  // namespace gdr::relay
