// The files of a GADGET-style snapshot, and the particles of each type in them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libgdr/io/hdf5.hpp"

namespace gdr {

/// "PartType1", a group of a file.
std::string group_name(std::size_t type);

/// A number for each type from the header; types beyond its end have 0.
struct PerType {
  bool given = false;
  std::vector<double> values;
  double operator[](std::size_t type) const { return type < values.size() ? values[type] : 0; }
};
PerType per_type(const hdf5::Reader& file, const std::string& name);

/// One file of a snapshot.
struct SnapshotPart {
  hdf5::Reader file;
  std::vector<std::size_t> counts;  ///< particles of each type
};

/// Opens all files of the snapshot that a file belongs to, in their order: those named alike but
/// for their number, as many as NumFilesPerSnapshot in the header. Throws Error (Io, Input) for a
/// missing file, and for files of different snapshots: of another time, size or number of
/// particles.
std::vector<SnapshotPart> open_parts(const std::string& path);

/// Particles of each type in all files together.
std::vector<std::size_t> total_counts(const std::vector<SnapshotPart>& parts);

}  // namespace gdr
