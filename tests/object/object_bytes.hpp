// Modified object files with a correct checksum, so that their contents are checked.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <vector>

namespace gdr::test {

/// Writes the correct checksum and length of the bytes after the 24 bytes of the header.
inline void make_checksum_good(std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < 24) return;
  const auto sum = static_cast<std::uint32_t>(crc32_z(0, bytes.data() + 24, bytes.size() - 24));
  for (unsigned i = 0; i < 4; ++i) bytes[12 + i] = static_cast<std::uint8_t>(sum >> (8 * i));
  for (unsigned i = 0; i < 8; ++i) {
    bytes[16 + i] = static_cast<std::uint8_t>(std::uint64_t{bytes.size()} >> (8 * i));
  }
}

}  // namespace gdr::test
