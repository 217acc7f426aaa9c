// Two network namespaces that are connected by nothing but a TUN device in each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libgdr/relay/file.hpp"

namespace gdr::relay {

/// Properties of the namespaces.
struct NamespaceOptions {
  int mtu = 9000;  ///< largest IP packet, bytes
  std::uint32_t device_queue =
      20000;  ///< packets that wait in the kernel until the relay reads them
  /// Names and values of settings below net.*, in both namespaces.
  std::vector<std::pair<std::string, std::string>> sysctls;
};

/// A network namespace with a loopback device and a TUN device `link0`.
struct HostNamespace {
  File network;  ///< the namespace
  File tun;      ///< the TUN device: reads and writes are IP packets
};

/// Addresses in the TUN devices' network.
inline constexpr const char* client_address = "10.77.0.1";
inline constexpr const char* server_address = "10.77.0.2";

/// Gives the process the right to create network namespaces: as it is if it has the right,
/// otherwise as root of a new user namespace. Only one thread may run. Throws gdr::Error
/// (Unsupported) if the system does not permit that.
void enter_user_namespace();

/// Creates a network namespace, which becomes that of the process. Throws gdr::Error (Unsupported)
/// if the system does not permit that, and (Usage) if a setting does not exist or has a wrong
/// value.
HostNamespace create_namespace(const std::string& address, const NamespaceOptions& options);

/// Makes a namespace that of the process.
void enter(const HostNamespace& host);

/// Packets that the kernel dropped on their way to the relay, because `device_queue` packets were
/// waiting. The namespace becomes that of the process.
std::uint64_t dropped_by_device(const HostNamespace& host);

/// Whether a socket of the process's namespace listens on a TCP port; 0: on any port.
bool listens(int port);

}  // namespace gdr::relay
