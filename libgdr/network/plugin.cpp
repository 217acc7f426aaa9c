// The entry of this library.
#include "libgdr/network/client.hpp"
#include "libgdr/network/credentials.hpp"
#include "libgdr/network/file_client.hpp"
#include "libgdr/network/server.hpp"

namespace gdr::network {
namespace {

class TlsNetwork final : public driver::Network {
 public:
  driver::NetworkBoard open(const driver::NetworkRequest& request) const override {
    auto link = std::make_unique<NetworkLink>(request);
    const driver::BoardIdentity identity = link->identity();
    return {std::move(link), identity};
  }
  std::unique_ptr<driver::ServerFiles> open_files(
      const driver::NetworkRequest& request) const override {
    return network::open_files(request);
  }
  void check_server(const driver::Credentials& credentials) const override {
    make_context(credentials, Role::Server);
  }
  void serve(const driver::NetworkServerOptions& options) const override {
    network::serve(options);
  }
};

}  // namespace
}  // namespace gdr::network

extern "C" const gdr::driver::Network& gdr_network() {
  static const gdr::network::TlsNetwork network;
  return network;
}
