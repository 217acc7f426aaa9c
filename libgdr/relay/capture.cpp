#include "libgdr/relay/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "gdr/error.hpp"

namespace gdr::relay {
namespace {

constexpr std::uint32_t section_header = 0x0a0d0d0a, interface_description = 1, enhanced_packet = 6;
constexpr std::uint16_t linktype_raw = 101, if_name = 2, if_tsresol = 9;

/// Little-endian, whatever the host is, as the byte-order magic states.
void put(std::string& text, std::uint64_t value, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes; ++k) text += static_cast<char>(value >> 8 * k & 0xff);
}
void pad(std::string& text) { text.append((4 - text.size() % 4) % 4, '\0'); }

void put_option(std::string& text, std::uint16_t code, std::string_view value) {
  put(text, code, 2);
  put(text, value.size(), 2);
  text += value;
  pad(text);
}

}  // namespace

Capture::Capture(const std::string& file, std::chrono::system_clock::time_point start,
                 std::size_t snap)
    : name_(file),
      file_(file, std::ios::binary),
      start_(std::chrono::duration_cast<std::chrono::nanoseconds>(start.time_since_epoch())),
      snap_(snap) {
  std::string section;
  put(section, 0x1a2b3c4d, 4);
  put(section, 1, 2);  // version 1.0
  put(section, 0, 2);
  put(section, ~std::uint64_t{0}, 8);  // the section's length is not known yet
  block(section_header, section);
  for (const std::string_view name : {"to server", "to client"}) {
    std::string body;
    put(body, linktype_raw, 2);
    put(body, 0, 2);
    put(body, snap, 4);
    put_option(body, if_name, name);
    put_option(body, if_tsresol, std::string_view("\x09", 1));  // nanoseconds
    put(body, 0, 4);                                            // end of the options
    block(interface_description, body);
  }
  if (!file_) throw Error(ErrorCategory::Io, fmt::format("cannot write {}", name_));
}

void Capture::block(std::uint32_t type, const std::string& body) {
  std::string bytes;
  const std::uint64_t size = body.size() + 12;
  put(bytes, type, 4);
  put(bytes, size, 4);
  bytes += body;
  put(bytes, size, 4);
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void Capture::write(Direction direction, std::span<const std::byte> packet, Time time) {
  const auto now = static_cast<std::uint64_t>((start_ + time).count());
  const std::size_t size = std::min(packet.size(), snap_);
  std::string body;
  body.reserve(size + 24);
  put(body, index_of(direction), 4);
  put(body, now >> 32, 4);
  put(body, now & 0xffffffff, 4);
  put(body, size, 4);
  put(body, packet.size(), 4);
  body.append(reinterpret_cast<const char*>(packet.data()), size);
  pad(body);
  block(enhanced_packet, body);
  if (!file_) fail();
}

void Capture::close() {
  file_.close();
  if (!file_) fail();
}

void Capture::fail() const {
  throw Error(ErrorCategory::Io, fmt::format("cannot write all of {} (--capture)", name_));
}

}  // namespace gdr::relay
