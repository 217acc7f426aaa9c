// Connections to board servers on other hosts: addresses, credentials, use of the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gdr::driver {

/// What a host proves about itself, and demands of the other one. Each host needs a certificate
/// with its key and the certificates of the authorities it trusts, or a key that both share.
struct Credentials {
  std::string certificate;  ///< PEM file: own certificate, with its chain
  std::string key;          ///< PEM file: key of that certificate
  std::string authorities;  ///< PEM file: certificates that may sign the other host's
  std::string shared_key;   ///< file with a line NAME:HEX of at least 32 digits
  bool none = false;        ///< plain TCP without authentication; for connections within this host

  bool empty() const noexcept {
    return certificate.empty() && key.empty() && authorities.empty() && shared_key.empty() && !none;
  }
};

/// How streams of a connection use the network.
struct TransferOptions {
  unsigned streams = 0;  ///< TCP connections; 0: enough for `bandwidth`, else 1
  double bandwidth = 0;  ///< bits per second that the path offers; 0: unknown
  std::uint64_t window =
      0;              ///< bytes in flight of a stream; 0: bandwidth times delay, else the system's
  double pacing = 0;  ///< bits per second of all streams; 0: none
  bool pacing_auto = false;  ///< pace by the measured rate of delivery
  std::string congestion;    ///< congestion control of the system; empty: its default
  std::optional<double> poll_seconds = {};  ///< how long a waiting thread polls before it sleeps, s
  double resume_seconds =
      30;  ///< time for which a broken connection is restored before the board is lost, s
};

/// A host and a TCP port.
struct Endpoint {
  std::string host, port;
  std::string text() const;  ///< "HOST:PORT", with brackets around an IPv6 address
};
/// Parses "HOST:PORT" or "[ADDRESS]:PORT". Throws Error (Usage).
Endpoint parse_endpoint(const std::string& text);

}  // namespace gdr::driver
