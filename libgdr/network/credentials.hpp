// TLS 1.3 with certificates of both hosts, or with a key that they share.
#pragma once

#include <asio/ssl.hpp>
#include <optional>
#include <string>

#include "libgdr/driver/network.hpp"

namespace gdr::network {

enum class Role { Client, Server };

/// A TLS context that accepts no host without valid credentials; nothing, for plain connections,
/// with Credentials::none. Throws Error (Usage) for an incomplete set of credentials, Error (Io)
/// for files that cannot be used.
std::optional<asio::ssl::context> make_context(const driver::Credentials& credentials, Role role);

/// What a connected host has proved to be: the name of its shared key, or the subject of its
/// certificate.
std::string peer_name(SSL* connection);

}  // namespace gdr::network
