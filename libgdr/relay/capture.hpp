// A log of packets as a file of the format pcapng, which Wireshark and tshark open.
#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>

#include "libgdr/relay/flows.hpp"
#include "libgdr/relay/link.hpp"

namespace gdr::relay {

/// Writes one section with an interface for each direction, "to server" and "to client", whose
/// packets are IPv4 without a header of the link (LINKTYPE_RAW), with times in nanoseconds. Format:
/// draft-ietf-opsawg-pcapng.
class Capture {
 public:
  /// `start`: time of day at which the relay's time is zero. Of each packet at most `snap` bytes
  /// are written. Throws Error (Io).
  Capture(const std::string& file, std::chrono::system_clock::time_point start, std::size_t snap);

  /// Throws Error (Io) when the file has not accepted this packet or an earlier one.
  void write(Direction direction, std::span<const std::byte> packet, Time time);
  /// Ends the file. Throws Error (Io) if something could not be written.
  void close();

 private:
  void block(std::uint32_t type, const std::string& body);
  [[noreturn]] void fail() const;

  std::string name_;
  std::ofstream file_;
  std::chrono::nanoseconds start_;
  std::size_t snap_;
};

}  // namespace gdr::relay
