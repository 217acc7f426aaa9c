// Reading and writing snapshots of either format.
#include "libgdr/io/snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <new>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/hdf5.hpp"

namespace gdr {
namespace {

bool named_as_hdf5(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".hdf5" || ending == ".h5" || ending == ".hdf";
}

[[noreturn]] void refuse(const std::string& path, const char* what) {
  throw Error(ErrorCategory::Input, fmt::format("'{}' {}", path, what));
}

/// Refuse files that are neither HDF5 nor text.
void check_text(const std::string& path, std::string_view content) {
  if (content.empty()) refuse(path, "is empty");
  if (named_as_hdf5(path))
    refuse(path, "is not an HDF5 file, or a damaged one, in spite of its name");
  // The length of the first record, in either byte order.
  for (const std::string_view length :
       {std::string_view("\0\1\0\0", 4), std::string_view("\0\0\1\0", 4),
        std::string_view("\10\0\0\0", 4), std::string_view("\0\0\0\10", 4)})
    if (content.starts_with(length))
      refuse(path,
             "is a snapshot in GADGET's binary format (1 or 2), which is not read; convert it to "
             "HDF5 first (SnapFormat=3 of GADGET)");
  if (content.find('\0') != std::string_view::npos)
    refuse(path, "is neither HDF5 nor text; convert it to HDF5 first");
}

/// Throws Error (Input) naming `file` and the first particle with a number that is not finite.
void check_finite(const Snapshot& snapshot, const std::string& file) {
  struct Quantity {
    const char* name;
    const std::vector<double>& values;
    std::size_t width;
  };
  const std::array<Quantity, 3> quantities = {{{"position", snapshot.position, 3},
                                               {"velocity", snapshot.velocity, 3},
                                               {"mass", snapshot.mass, 1}}};
  for (const Quantity& quantity : quantities)
    for (std::size_t k = 0; k < quantity.values.size(); ++k) {
      if (std::isfinite(quantity.values[k])) continue;
      const std::size_t particle = k / quantity.width;
      const std::string component = quantity.width == 1 ? "" : std::string(1, "xyz"[k % 3]) + " ";
      throw Error(
          ErrorCategory::Input,
          fmt::format("{}: {}{} of particle {} (id {}) is {}; remove or repair it", file, component,
                      quantity.name, particle, id_text(snapshot, particle), quantity.values[k]));
    }
}

std::string content_of(const Snapshot& snapshot, SnapshotFormat format) {
  return format == SnapshotFormat::Text ? text_snapshot(snapshot) : gadget_image(snapshot);
}

/// Sets the time of a Hermite state. A state of other particles than those of the file, which were
/// then changed by another code, is dropped with its run.
void complete_hermite(Snapshot& snapshot) {
  const bool has_run = snapshot.run && snapshot.run->integrator == IntegratorKind::Hermite4;
  if (has_run && snapshot.hermite) {
    HermiteState& state = *snapshot.hermite;
    state.cycle = snapshot.run->step;
    state.now = snapshot.run->fraction;
    const bool between_steps = state.now > 0;  // the file's particles are predicted ones
    if (between_steps || (state.position == snapshot.position &&
                          (snapshot.velocity.empty() || state.velocity == snapshot.velocity)))
      return;
  }
  if (has_run) snapshot.run.reset();
  snapshot.hermite.reset();
}

}  // namespace

double RunState::time() const noexcept {
  return start_time + (static_cast<double>(step) + fraction) * time_step;
}

SnapshotFormat snapshot_format(const std::string& path) {
  return hdf5::Reader::recognises(path) ? SnapshotFormat::Hdf5 : SnapshotFormat::Text;
}

Snapshot read_snapshot(const std::string& path, Velocities velocities) {
  try {
    Snapshot snapshot;
    if (snapshot_format(path) == SnapshotFormat::Hdf5) {
      snapshot = read_gadget(path, velocities);
    } else {
      const std::string content = read_file(path);
      check_text(path, content);
      snapshot = parse_text_snapshot(content, path);
    }
    check_finite(snapshot, path);
    complete_hermite(snapshot);
    return snapshot;
  } catch (const std::bad_alloc&) {
    refuse(path, "holds more than this machine's memory");
  }
}

void write_snapshot(const std::string& path, const Snapshot& snapshot, SnapshotFormat format) {
  write_file_atomically(path, content_of(snapshot, format));
}

std::string write_private_snapshot(const std::string& folder, std::string_view prefix,
                                   const Snapshot& snapshot, SnapshotFormat format) {
  const char* const suffix = format == SnapshotFormat::Text ? ".txt" : ".hdf5";
  return write_private_file(folder, prefix, suffix, content_of(snapshot, format));
}

std::string id_text(const Snapshot& snapshot, std::size_t particle) {
  const std::uint64_t id = snapshot.id.at(particle);
  return snapshot.signed_ids ? fmt::format("{}", static_cast<std::int64_t>(id))
                             : fmt::format("{}", id);
}

const char* format_name(SnapshotFormat format) noexcept {
  return format == SnapshotFormat::Hdf5 ? "hdf5" : "text";
}

}  // namespace gdr
