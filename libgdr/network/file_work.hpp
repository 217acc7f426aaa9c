// A session with the files of a server: copies and jobs, in a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "libgdr/driver/network.hpp"
#include "libgdr/network/session_work.hpp"

namespace gdr::network {

/// Size of messages that a client may have unanswered in such a session, bytes: the option's, but
/// at least some chunks of a file.
std::uint64_t max_file_message_bytes(const driver::NetworkServerOptions& options);

/// `reply` sends a message to the client. Throws Error (Io) without a folder for the session, and
/// std::system_error without a thread.
std::unique_ptr<SessionWork> make_file_work(const driver::NetworkServerOptions& options,
                                            const std::string& client,
                                            std::function<void(Bytes)> reply);

}  // namespace gdr::network
