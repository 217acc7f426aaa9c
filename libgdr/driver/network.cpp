#include "libgdr/driver/network.hpp"

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/plugin/plugin.hpp"

namespace gdr::driver {
namespace {

NetworkEntry load() {
  return reinterpret_cast<NetworkEntry>(
      load_plugin({plugin_path("GDR_NETWORK_LIBRARY", "libgdr_network.so"), network_symbol,
                   "boards of other hosts",
                   "build with libasio-dev and libssl-dev installed and without GDR_NETWORK=OFF, "
                   "or set GDR_NETWORK_LIBRARY to the library"}));
}

}  // namespace

std::string Endpoint::text() const {
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

Endpoint parse_endpoint(const std::string& text) {
  const auto refuse = [&] {
    throw Error(ErrorCategory::Usage, "\"" + text +
                                          "\" is not an address; write HOST:PORT or "
                                          "[IPV6-ADDRESS]:PORT, with a port up to 65535");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) refuse();
  Endpoint e{text.substr(0, colon), text.substr(colon + 1)};
  if (e.host.size() >= 2 && e.host.front() == '[' && e.host.back() == ']')
    e.host = e.host.substr(1, e.host.size() - 2);
  else if (e.host.find(':') != std::string::npos)
    refuse();
  const auto port = parse_all<unsigned>(e.port);
  if (e.host.empty() || !port || *port > 65535) refuse();
  return e;
}

const Network& network() {
  static const NetworkEntry entry = load();
  return entry();
}

}  // namespace gdr::driver
