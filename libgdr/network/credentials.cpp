#include "libgdr/network/credentials.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "gdr/error.hpp"

namespace gdr::network {
namespace {

using driver::Credentials;

[[noreturn]] void refuse(ErrorCategory category, const std::string& what) {
  throw Error(category, what);
}

std::string tls_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const why = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return why != nullptr ? why : "unknown error";
}

/// A key that two hosts share.
struct SharedKey {
  std::string name;
  std::vector<unsigned char> bytes;
};

constexpr std::size_t min_key_bytes = 16, max_key_bytes = 48, max_name = 127;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Whether a text ends like a key: it must not be printed.
bool may_be_key(const std::string& text) {
  const auto digits =
      std::find_if(text.rbegin(), text.rend(), [](char c) { return hex_digit(c) < 0; });
  return digits - text.rbegin() >= 2 * static_cast<std::ptrdiff_t>(min_key_bytes);
}

SharedKey read_shared_key(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line))
    refuse(ErrorCategory::Io,
           may_be_key(path) ? "a shared key was given; give the name of the file that contains it"
                            : "the shared key " + path + " cannot be read");
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    refuse(ErrorCategory::Io, "the shared key " + path +
                                  " is readable by other users; restrict it with chmod 600 " +
                                  path);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  const std::size_t colon = line.find(':');
  SharedKey key;
  bool valid = colon != std::string::npos && colon > 0 && colon <= max_name &&
               (line.size() - colon - 1) % 2 == 0;
  if (valid) {
    key.name = line.substr(0, colon);
    for (std::size_t k = colon + 1; valid && k < line.size(); k += 2) {
      const int high = hex_digit(line[k]), low = hex_digit(line[k + 1]);
      valid = high >= 0 && low >= 0;
      key.bytes.push_back(static_cast<unsigned char>(high * 16 + low));
    }
  }
  if (!valid || key.bytes.size() < min_key_bytes || key.bytes.size() > max_key_bytes)
    refuse(ErrorCategory::Io,
           "the shared key " + path +
               " is invalid; its first line must be NAME:HEX with 32 to 96 hexadecimal digits, "
               "for example from: echo \"cluster:$(openssl rand -hex 32)\"");
  return key;
}

/// Shared keys by the context that uses them: the callbacks of OpenSSL have no other argument.
int key_index() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* key, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<SharedKey*>(key);
      });
  return index;
}

const SharedKey& key_of(SSL* ssl) {
  return *static_cast<const SharedKey*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), key_index()));
}

/// A session of TLS 1.3 that the key authenticates; null on failure.
SSL_SESSION* make_session(SSL* ssl, const SharedKey& key) {
  // Keys of this kind are used with SHA-256.
  const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
  const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
  SSL_SESSION* const session = SSL_SESSION_new();
  if (cipher != nullptr && session != nullptr &&
      SSL_SESSION_set1_master_key(session, key.bytes.data(), key.bytes.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

int offer_key(SSL* ssl, const EVP_MD* digest, const unsigned char** name, std::size_t* length,
              SSL_SESSION** session) {
  *session = nullptr;
  if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;  // offers no key
  const SharedKey& key = key_of(ssl);
  *session = make_session(ssl, key);
  *name = reinterpret_cast<const unsigned char*>(key.name.data());
  *length = key.name.size();
  return *session != nullptr ? 1 : 0;
}

int find_key(SSL* ssl, const unsigned char* name, std::size_t length, SSL_SESSION** session) {
  const SharedKey& key = key_of(ssl);
  const bool known = std::string_view(reinterpret_cast<const char*>(name), length) == key.name;
  *session = known ? make_session(ssl, key) : nullptr;
  return 1;
}

void use_shared_key(SSL_CTX* context, Role role, SharedKey key) {
  SSL_CTX_set_ex_data(context, key_index(), new SharedKey(std::move(key)));
  if (role == Role::Client)
    SSL_CTX_set_psk_use_session_callback(context, offer_key);
  else
    SSL_CTX_set_psk_find_session_callback(context, find_key);
}

void use_certificates(SSL_CTX* context, const Credentials& c) {
  if (c.certificate.empty() || c.key.empty() || c.authorities.empty())
    refuse(ErrorCategory::Usage,
           "certificates are incomplete: a host needs its certificate, the key of the certificate, "
           "and the certificates of the authorities that sign the other host's");
  if (SSL_CTX_use_certificate_chain_file(context, c.certificate.c_str()) != 1)
    refuse(ErrorCategory::Io,
           "the certificate " + c.certificate + " cannot be used: " + tls_error());
  if (SSL_CTX_use_PrivateKey_file(context, c.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    refuse(ErrorCategory::Io, "the key " + c.key + " cannot be used: " + tls_error());
  if (SSL_CTX_load_verify_locations(context, c.authorities.c_str(), nullptr) != 1)
    refuse(ErrorCategory::Io,
           "the authorities " + c.authorities + " cannot be used: " + tls_error());
}

}  // namespace

std::optional<asio::ssl::context> make_context(const Credentials& c, Role role) {
  const bool certificates = !c.certificate.empty() || !c.key.empty() || !c.authorities.empty();
  if (int(certificates) + int(!c.shared_key.empty()) + int(c.none) != 1)
    refuse(ErrorCategory::Usage, c.empty() ? "no credentials: give a shared key, or certificates"
                                           : "give either a shared key or certificates, not both");
  if (c.none) return {};
  asio::ssl::context context(asio::ssl::context::tls);
  SSL_CTX* const handle = context.native_handle();
  SSL_CTX_set_min_proto_version(handle, TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(handle, 0);
  SSL_CTX_set_options(handle, SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  if (certificates) {
    use_certificates(handle, c);
    context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  } else {
    if (SSL_CTX_set_ciphersuites(handle, "TLS_AES_128_GCM_SHA256") != 1)
      refuse(ErrorCategory::Internal, "TLS_AES_128_GCM_SHA256 is missing: " + tls_error());
    use_shared_key(handle, role, read_shared_key(c.shared_key));
    // A server without the key could only present a certificate, which no authority signs.
    context.set_verify_mode(role == Role::Client ? asio::ssl::verify_peer : asio::ssl::verify_none);
  }
  return context;
}

std::string peer_name(SSL* connection) {
  const std::unique_ptr<X509, void (*)(X509*)> certificate(SSL_get1_peer_certificate(connection),
                                                           X509_free);
  if (!certificate) return "shared key " + key_of(connection).name;
  char text[256] = {};
  X509_NAME_oneline(X509_get_subject_name(certificate.get()), text, sizeof(text));
  return text;
}

}  // namespace gdr::network
