// The options of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "network/relay/namespaces.hpp"
#include "network/relay/router.hpp"

namespace gdr::relay {

/// The options as given. Lists have one value for both directions, or one to the server and one to
/// the client.
struct CommandOptions {
  std::string server, client;              ///< shell commands
  bool check = false;                      ///< only test whether the relay can run
  std::vector<double> rate{1e9};           ///< bit/s
  double rtt = 0;                          ///< s
  std::vector<double> delay;               ///< s, by direction; in place of the RTT
  std::vector<double> loss{0};             ///< probability
  std::vector<double> queue{32e6};         ///< bytes
  std::uint64_t seed = 1;                  ///< seed of everything random
  std::string merge = "fifo";              ///< name of the discipline
  std::optional<double> cut_time;          ///< s
  double cut_bytes = 0;                    ///< bytes
  std::optional<std::uint64_t> cut_limit;  ///< number of cuts
  std::string cut_reset = "0s";            ///< duration, or "never"
  int mtu = 9000;                          ///< bytes
  std::vector<std::string> sysctls;        ///< NAME=VALUE
  std::optional<double> buffers;           ///< bytes
  std::string congestion_control;          ///< name
  int port = 0;                            ///< TCP port that the server listens on; 0: any
  double server_wait = 30;                 ///< s
  std::optional<double> time_limit;        ///< s
  std::optional<double> linger;            ///< s
  double step = 100e-6;                    ///< s
  std::string json;                        ///< file
  bool quiet = false;                      ///< no report as text
};

/// Adds the options to a program.
void add_options(CLI::App& app, CommandOptions& options);

/// The links' options by direction.
std::array<LinkOptions, 2> link_options(const CommandOptions& options);

/// The options of cuts.
CutOptions cut_options(const CommandOptions& options);

/// The options of the namespaces.
NamespaceOptions namespace_options(const CommandOptions& options);

/// A duration in seconds as time.
Time time_of(double seconds);

}  // namespace gdr::relay
