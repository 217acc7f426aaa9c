#include "libgdr/driver/network.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "gdr/error.hpp"

namespace gdr::driver {
namespace {

std::string library_path() {
  if (const char* given = std::getenv("GDR_NETWORK_LIBRARY"); given != nullptr && *given != '\0')
    return given;
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&parse_endpoint), &info) != 0;
  const std::filesystem::path own = found ? info.dli_fname : "";
  return (own.parent_path() / "libgdr_network.so").string();
}

NetworkEntry load() {
  const std::string path = library_path();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Error(ErrorCategory::Unsupported,
                "boards of other hosts need " + path + ", which cannot be loaded (" +
                    (why != nullptr ? why : "no reason given") +
                    "); build with libasio-dev and libssl-dev installed and without "
                    "GDR_NETWORK=OFF, or set GDR_NETWORK_LIBRARY to the library");
  }
  void* const symbol = dlsym(library, network_symbol);
  if (symbol == nullptr)
    throw Error(ErrorCategory::Unsupported,
                path + " is not of the same build as libgdr; install both together");
  return reinterpret_cast<NetworkEntry>(symbol);
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
  unsigned port = 0;
  const char* const end = e.port.data() + e.port.size();
  const auto [stop, error] = std::from_chars(e.port.data(), end, port);
  if (e.host.empty() || error != std::errc{} || stop != end || port > 65535) refuse();
  return e;
}

const Network& network() {
  static const NetworkEntry entry = load();
  return entry();
}

}  // namespace gdr::driver
