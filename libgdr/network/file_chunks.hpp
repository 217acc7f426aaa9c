// Files in chunks: their sizes and checksums, and access to them on the disk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "libgdr/driver/file.hpp"
#include "libgdr/network/protocol.hpp"

namespace gdr::network {

/// End of the name of a file that has not arrived completely.
constexpr std::string_view part_suffix = ".gdr-part";

/// Files are transferred and compared in chunks of this size; the last one is smaller.
constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t chunk_count(std::uint64_t bytes) {
  return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}
constexpr std::uint64_t chunk_size(std::uint64_t chunk, std::uint64_t bytes) {
  return std::min(chunk_bytes, bytes - chunk * chunk_bytes);
}

/// Checksum of a chunk, as boards have it (emulator/board/hardware/checksum.hpp).
std::uint64_t chunk_checksum(std::span<const std::byte> data);
/// Checksum of a file from those of all its chunks.
std::uint64_t file_checksum(std::span<const std::uint64_t> chunks);

/// Fills `to` with the bytes at `offset`. Throws Error (Io) naming the file, also where it ends
/// before.
void read_bytes(const driver::File& file, std::uint64_t offset, std::span<std::byte> to,
                const std::string& name);
Bytes read_chunk(const driver::File& file, std::uint64_t chunk, std::uint64_t file_bytes,
                 const std::string& name);
void write_bytes(const driver::File& file, std::uint64_t offset, std::span<const std::byte> from,
                 const std::string& name);

/// Locks an open file, which arrives, against other processes that receive the same one.
enum class Lock {
  Held,
  Busy,  ///< another process has it
  Lost   ///< the path leads to another file now: the one that had the lock has renamed it; open
         ///< again
};
Lock lock_part(const driver::File& file, int folder, const std::string& path);

}  // namespace gdr::network
