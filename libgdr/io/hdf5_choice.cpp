// Snapshots in HDF5 or in another format, for the command.
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

std::string content_of(const Snapshot& snapshot, SnapshotFormat format) {
  return format == SnapshotFormat::Text ? text_snapshot(snapshot) : gadget_image(snapshot);
}

}  // namespace

Snapshot read_snapshot(const std::string& path, Velocities velocities,
                       std::bitset<max_particle_types> omitted) {
  SnapshotReading how;
  how.velocities = velocities;
  how.omitted = omitted;
  how.open_hdf5 = open_hdf5;
  return read_snapshot(path, how);
}

void write_snapshot(const std::string& path, const Snapshot& snapshot, SnapshotFormat format) {
  write_file_atomically(path, content_of(snapshot, format));
}

std::string write_private_snapshot(const std::string& folder, std::string_view prefix,
                                   const Snapshot& snapshot, SnapshotFormat format) {
  const char* const suffix = format == SnapshotFormat::Text ? ".txt" : ".hdf5";
  return write_private_file(folder, prefix, suffix, content_of(snapshot, format));
}

}  // namespace gdr
