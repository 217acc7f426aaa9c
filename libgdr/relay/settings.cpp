#include "libgdr/relay/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/relay/units.hpp"

namespace gdr::relay {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

/// Gives both directions the values of a text with one or two of them.
template <typename Set>
void for_directions(std::string_view name, const std::string& text, LinkPair& links, Set set) {
  const std::vector<std::string> parts = parse_pair(name, text);
  for (std::size_t way = 0; way < 2; ++way) set(links[way], parts[way % parts.size()]);
}

std::uint64_t bytes_of(std::string_view name, const std::string& text) {
  const double value = parse_amount(name, text);
  if (value > 1e12) refuse(fmt::format("{}: {} is more than 1e12 bytes", name, text));
  return static_cast<std::uint64_t>(value);
}

template <typename Number>
Number whole(std::string_view name, const std::string& text, Number first, Number last) {
  const auto value = parse_all<Number>(text);
  if (!value || *value < first || *value > last)
    refuse(fmt::format("{}: '{}' is not a whole number from {} to {}", name, text, first, last));
  return *value;
}

/// Settings of links, also of those of a port or a line.
struct LinkSetting {
  std::string_view name;
  void (*set)(LinkPair&, const std::string&);
};
constexpr LinkSetting link_settings[] = {
    {"rate",
     [](LinkPair& l, const std::string& t) {
       for_directions("rate", t, l, [](LinkOptions& link, const std::string& part) {
         link.rate = parse_amount("rate", part);
       });
     }},
    {"rtt",
     [](LinkPair& l, const std::string& t) {
       for (LinkOptions& link : l) link.delay = parse_time("rtt", t) / 2;
     }},
    {"delay",
     [](LinkPair& l, const std::string& t) {
       for_directions("delay", t, l, [](LinkOptions& link, const std::string& part) {
         link.delay = parse_time("delay", part);
       });
     }},
    {"loss",
     [](LinkPair& l, const std::string& t) {
       for_directions("loss", t, l, [](LinkOptions& link, const std::string& part) {
         const auto value = parse_all<double>(part);
         if (!value || !(*value >= 0 && *value <= 1))
           refuse(fmt::format("loss: '{}' is not a probability from 0 to 1", part));
         link.loss = *value;
       });
     }},
    {"loss-period",
     [](LinkPair& l, const std::string& t) {
       for_directions("loss-period", t, l, [](LinkOptions& link, const std::string& part) {
         const double period = parse_amount("loss-period", part);
         if (period != std::floor(period) || period > 1e18)
           refuse(fmt::format("loss-period: '{}' is not a whole number up to 1e18", part));
         link.period = static_cast<std::uint64_t>(period);
       });
     }},
    {"queue",
     [](LinkPair& l, const std::string& t) {
       for_directions("queue", t, l, [](LinkOptions& link, const std::string& part) {
         link.queue_bytes = bytes_of("queue", part);
       });
     }},
    {"merge", [](LinkPair& l, const std::string& t) {
       if (t != "fifo" && t != "round-robin")
         refuse(fmt::format("merge: '{}' is neither fifo nor round-robin", t));
       for (LinkOptions& link : l)
         link.discipline = t == "fifo" ? Discipline::Fifo : Discipline::RoundRobin;
     }}};

/// Keeps a value after a trial that throws Error (Usage) if it is wrong.
void add_value(LinkValues& values, const LinkSetting& setting, const std::string& text) {
  LinkPair trial;
  setting.set(trial, text);
  values.push_back({setting.name, text});
}

void apply_values(LinkPair& links, const LinkValues& values) {
  for (const LinkValue& value : values)
    std::ranges::find(link_settings, value.name, &LinkSetting::name)->set(links, value.text);
}

/// A line takes packets of streams in turn unless something else is given. Delays and losses of
/// the run are those of the ports: on the line they would act a second time.
LinkPair line_of(const LinkValues& common, const LinkValues& own) {
  LinkPair links;
  for (LinkOptions& link : links) link.discipline = Discipline::RoundRobin;
  apply_values(links, common);
  for (LinkOptions& link : links) {
    link.delay = Time::zero();
    link.loss = 0;
    link.period = 0;
  }
  apply_values(links, own);
  return links;
}

template <std::size_t Index>
void set_link(Settings& s, const std::string& text) {
  add_value(s.links, link_settings[Index], text);
}

void set_sysctl(Settings& s, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse(fmt::format("sysctl: '{}' is not NAME=VALUE", text));
  s.hosts.sysctls.emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

void set_buffers(Settings& s, const std::string& text) {
  const double bytes = parse_amount("buffers", text);
  if (!(bytes >= 4096 && bytes < 2147483648.0))
    refuse("buffers: must be from 4096 to 2147483647 bytes");
  // Minimum and initial size as Linux has them.
  const auto largest = static_cast<std::uint64_t>(bytes);
  s.hosts.sysctls.emplace_back("net.ipv4.tcp_rmem", fmt::format("4096 131072 {}", largest));
  s.hosts.sysctls.emplace_back("net.ipv4.tcp_wmem", fmt::format("4096 16384 {}", largest));
}

void set_forward(Settings& s, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    refuse(
        fmt::format("forward: '{}' is not LISTEN=TARGET, as "
                    "127.0.0.1:7000=127.0.0.1:7326",
                    text));
  s.ports.push_back({text.substr(0, equals), text.substr(equals + 1), {}});
}

constexpr SettingInfo table[] = {
    {"server", "COMMAND", "shell command of the server, whose host is 10.77.0.2",
     [](Settings& s, const std::string& t) { s.server = t; }},
    {"client", "COMMAND", "shell command of the client, whose host is 10.77.0.1",
     [](Settings& s, const std::string& t) { s.client = t; }},
    {"rate", "BIT/S", "transmission rate: 1G, or 1G,100M to the server and to the client",
     set_link<0>},
    {"rtt", "TIME", "propagation delay there and back, as 200ms", set_link<1>},
    {"delay", "TIME", "propagation delay of each direction", set_link<2>},
    {"loss", "P", "probability that a packet is lost", set_link<3>},
    {"loss-period", "N", "each N-th packet is lost", set_link<4>},
    {"queue", "BYTES", "bytes that can wait for transmission; with round-robin of each stream",
     set_link<5>},
    {"merge", "fifo|round-robin", "order of transmission: packets of streams in turn, or fifo",
     set_link<6>},
    {"forward", "LISTEN=TARGET",
     "port without commands: TCP connections to LISTEN go on to TARGET; up to five", set_forward,
     true},
    {"rule", "RULE", "drop or reset by address and time: \"reset to=*:5000 after=2s until=3s\"",
     [](Settings& s, const std::string& t) { s.rules.push_back(parse_rule(t)); }, true},
    {"seed", "N", "seed of losses and cuts",
     [](Settings& s, const std::string& t) {
       s.seed = whole<std::uint64_t>("seed", t, 0, ~std::uint64_t{0});
     }},
    {"mtu", "BYTES", "largest IP packet (default: 9000)",
     [](Settings& s, const std::string& t) { s.hosts.mtu = whole("mtu", t, 576, 65535); }},
    {"cut-time", "TIME", "mean time between cuts of all TCP connections",
     [](Settings& s, const std::string& t) { s.cuts.mean_time = parse_time("cut-time", t); }},
    {"cut-bytes", "BYTES", "mean number of bytes after which each TCP connection is cut",
     [](Settings& s, const std::string& t) { s.cuts.mean_bytes = bytes_of("cut-bytes", t); }},
    {"cuts", "N", "most cuts of a run",
     [](Settings& s, const std::string& t) {
       s.cuts.limit = whole<std::uint64_t>("cuts", t, 0, ~std::uint64_t{0});
     }},
    {"cut-reset", "TIME", "time for which packets disappear before both ends get RST, or never",
     [](Settings& s, const std::string& t) {
       s.cuts.reset_after.reset();
       if (t != "never") s.cuts.reset_after = parse_time("cut-reset", t);
     }},
    {"sysctl", "NAME=VALUE", "setting below net. of both hosts", set_sysctl, true},
    {"buffers", "BYTES", "largest TCP buffers of both hosts", set_buffers},
    {"congestion-control", "NAME", "net.ipv4.tcp_congestion_control of both hosts",
     [](Settings& s, const std::string& t) {
       s.hosts.sysctls.emplace_back("net.ipv4.tcp_congestion_control", t);
     }},
    {"port", "N", "TCP port that the server opens (default: any)",
     [](Settings& s, const std::string& t) { s.port = whole("port", t, 0, 65535); }},
    {"server-wait", "TIME", "how long to wait until the server listens (default: 30s)",
     [](Settings& s, const std::string& t) { s.server_wait = parse_time("server-wait", t); }},
    {"time-limit", "TIME", "end of the run; with commands status 124",
     [](Settings& s, const std::string& t) { s.time_limit = parse_time("time-limit", t); }},
    {"linger", "TIME", "how long the server may run on after the client (default: one RTT)",
     [](Settings& s, const std::string& t) { s.linger = parse_time("linger", t); }},
    {"step", "TIME", "time between two reads of busy devices (default: 100us)",
     [](Settings& s, const std::string& t) {
       s.step = parse_time("step", t);
       if (s.step > std::chrono::milliseconds(100))
         refuse(fmt::format("step: {} is more than 100ms, by which packets would be late", t));
     }},
    {"json", "FILE", "write the counts to a file",
     [](Settings& s, const std::string& t) { s.json = t; }},
    {"capture", "FILE", "write the delivered packets as pcapng, for Wireshark",
     [](Settings& s, const std::string& t) { s.capture = t; }},
    {"capture-bytes", "N", "bytes of each packet in that file (default: all)",
     [](Settings& s, const std::string& t) {
       s.capture_bytes = whole<std::size_t>("capture-bytes", t, 20, 65535);
     }},
};

using Json = nlohmann::json;

std::string text_of(std::string_view name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  refuse(fmt::format("{}: must be a text or a number", name));
}

void add_link_value(LinkValues& values, std::string_view where, const std::string& name,
                    const Json& value) {
  const auto found = std::ranges::find(link_settings, name, &LinkSetting::name);
  if (found == std::ranges::end(link_settings))
    refuse(fmt::format("'{}' is no value of a {}", name, where));
  add_value(values, *found, text_of(name, value));
}

const Json& object_of(const Json& value, std::string_view what) {
  if (!value.is_object()) refuse(fmt::format("{}: must be an object", what));
  return value;
}

void apply_json(Settings& s, const Json& root) {
  for (const auto& [name, value] : object_of(root, "the configuration").items()) {
    if (name == "ports" || name == "line") continue;
    const auto found = std::ranges::find(table, name, &SettingInfo::name);
    if (found == std::ranges::end(table)) refuse(fmt::format("'{}' is no setting", name));
    if (value.is_array() && found->repeatable)
      for (const Json& one : value) apply_setting(s, *found, text_of(name, one));
    else
      apply_setting(s, *found, text_of(name, value));
  }
  if (root.contains("line")) {
    s.line.emplace();
    for (const auto& [name, value] : object_of(root["line"], "line").items())
      add_link_value(*s.line, "line", name, value);
  }
  if (!root.contains("ports")) return;
  if (!root["ports"].is_array()) refuse("ports: must be a list");
  for (const Json& port : root["ports"]) {
    Forwarding forwarding;
    for (const auto& [name, value] : object_of(port, "a port").items()) {
      if (name == "listen" || name == "forward")
        (name == "listen" ? forwarding.listen : forwarding.forward) = text_of(name, value);
      else
        add_link_value(forwarding.links, "port", name, value);
    }
    if (forwarding.listen.empty() || forwarding.forward.empty())
      refuse("a port needs listen and forward, both HOST:PORT");
    s.ports.push_back(std::move(forwarding));
  }
}

}  // namespace

std::span<const SettingInfo> setting_table() noexcept { return table; }

void apply_setting(Settings& settings, const SettingInfo& info, const std::string& text) {
  try {
    info.set(settings, text);
  } catch (const Error& error) {
    const std::string message = error.what(), name = std::string(info.name) + ": ";
    throw Error(error.category(), message.starts_with(name) ? message : name + message);
  }
}

void apply_file(Settings& settings, const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw Error(ErrorCategory::Io, fmt::format("cannot read {}", file));
  try {
    apply_json(settings, Json::parse(stream));
  } catch (const std::ios_base::failure&) {  // from the buffer, as for a folder
    throw Error(ErrorCategory::Io, fmt::format("cannot read {}: is it a file?", file));
  } catch (const Json::exception& error) {
    refuse(fmt::format("{}: {}", file, error.what()));
  } catch (const Error& error) {
    throw Error(error.category(), fmt::format("{}: {}", file, error.what()));
  }
}

RouterOptions router_options(const Settings& s) {
  if (!s.ports.empty() && !(s.server.empty() && s.client.empty()))
    refuse("give commands (server, client) or ports to forward, not both");
  if (s.ports.size() > max_ports) refuse("a relay has at most five ports");
  RouterOptions options;
  LinkPair common;
  apply_values(common, s.links);
  options.ports.assign(std::max<std::size_t>(s.ports.size(), 1), common);
  for (std::size_t k = 0; k < s.ports.size(); ++k) apply_values(options.ports[k], s.ports[k].links);
  if (s.line) options.line = line_of(s.links, *s.line);
  options.cuts = s.cuts;
  options.cuts.seed = s.seed;
  options.rules = s.rules;
  std::uint64_t number = 0;
  const auto seed = [&](LinkPair& links) {
    for (std::size_t way = 0; way < 2; ++way) {
      links[way].seed = s.seed + (number << 32);
      links[way].loss_sequence = way == 0 ? LossToServer : LossToClient;
    }
    ++number;
  };
  for (LinkPair& links : options.ports) seed(links);
  if (options.line) seed(*options.line);
  return options;
}

}  // namespace gdr::relay
