// What a server does with the messages of a session, in a thread of its own.
#pragma once

#include <cstdint>

#include "libgdr/network/protocol.hpp"

namespace gdr::network {

/// Replies that the client has not received: above this the work waits, so that a client that does
/// not read cannot exhaust the memory. As much as 10 Gbit/s and 200 ms have in flight, or what the
/// client may have unanswered if that is less.
constexpr std::uint64_t max_unreceived_bytes = std::uint64_t{256} << 20;

class SessionWork {
 public:
  virtual ~SessionWork() = default;
  /// False if the client has sent more than it may.
  virtual bool add(Bytes message) = 0;
  /// The client has received so many bytes of replies more.
  virtual void received(std::uint64_t bytes) = 0;
  /// Stops the work of messages up to this number.
  virtual void stop(std::uint64_t number) = 0;
  /// Stops all work; what the session holds is released soon.
  virtual void end() = 0;
  /// Whether it is released.
  virtual bool finished() const noexcept = 0;
};

}  // namespace gdr::network
