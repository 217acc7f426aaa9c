// What a server does with the messages of a session, in a thread of its own.
#pragma once

#include <cstdint>

#include "libgdr/network/protocol.hpp"

namespace gdr::network {

class SessionWork {
 public:
  virtual ~SessionWork() = default;
  /// False if the client has sent more than it may.
  virtual bool add(Bytes message) = 0;
  /// Stops the work of messages up to this number.
  virtual void stop(std::uint64_t number) = 0;
  /// Stops all work; what the session holds is released soon.
  virtual void end() = 0;
  /// Whether it is released.
  virtual bool finished() const noexcept = 0;
};

}  // namespace gdr::network
