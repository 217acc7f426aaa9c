// The files of a GADGET-style snapshot, and the particles of each type in them.
#pragma once

#include <bitset>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/io/stored_file.hpp"

namespace gdr {

/// "PartType1", a group of a file.
std::string group_name(std::size_t type);

/// A number for each type from the header; types beyond its end have 0.
struct PerType {
  bool given = false;
  std::vector<double> values;
  double operator[](std::size_t type) const { return type < values.size() ? values[type] : 0; }
};
PerType per_type(const StoredFile& file, const std::string& name);

/// All files of the snapshot that a file belongs to, in their order: those named alike but for
/// their number, as many as NumFilesPerSnapshot in the header. Two are open at most, the first and
/// the one in use, because snapshots may have thousands.
class SnapshotFiles {
 public:
  /// Throws Error (Io, Input) for a missing file, and for a name without a number.
  SnapshotFiles(const std::string& path, const OpenStoredFile& open);
  std::size_t size() const noexcept { return names_.size(); }
  const StoredFile& first() const noexcept { return *first_; }
  /// Opens a file, which closes the one of the call before.
  const StoredFile& open(std::size_t index);

 private:
  OpenStoredFile open_;
  std::vector<std::string> names_;
  std::unique_ptr<StoredFile> first_, current_;
};

/// A set of types of particles.
using ParticleTypes = std::bitset<max_particle_types>;

/// Particles of each type in a file, zero of omitted ones. Throws Error (Input) if the header has
/// other numbers.
std::vector<std::size_t> count_particles(const StoredFile& file, const ParticleTypes& omitted);

/// Throws Error (Input) for files of different snapshots: of another time, size or number of
/// particles.
void check_same_snapshot(const StoredFile& first, const StoredFile& other);

/// Throws Error (Input) unless all files together have the particles of each type, but omitted
/// ones, that the header of the first one gives.
void check_total(const StoredFile& first, const std::vector<std::size_t>& counts,
                 const ParticleTypes& omitted);

}  // namespace gdr
