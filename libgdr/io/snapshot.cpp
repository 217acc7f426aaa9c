// Reading snapshots of any format.
#include "libgdr/io/snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <new>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/binary_formats.hpp"

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
             "has the beginning of a snapshot in GADGET's binary format, but is too short, or is a "
             "pipe; give the name of the whole file");
  if (content.find('\0') != std::string_view::npos)
    refuse(
        path,
        "is neither HDF5, nor text, nor a snapshot of GADGET or TIPSY; convert it to HDF5 first");
}

/// Whether all numbers are finite, in a loop without branches.
bool are_finite(std::span<const double> values) {
  bool finite = true;
  for (const double value : values) finite &= std::isfinite(value);
  return finite;
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
  for (const Quantity& quantity : quantities) {
    if (are_finite(quantity.values)) continue;
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
}

/// Whether the particles are still those of a Hermite state.
bool has_particles_of(const Snapshot& snapshot, const HermiteState& state) {
  // Within a step the file's particles are predicted ones.
  return state.now > 0 || (state.position == snapshot.position &&
                           (snapshot.velocity.empty() || state.velocity == snapshot.velocity));
}

/// Sets the time of a Hermite state. The run of a file whose time or particles another code, or the
/// user, has changed cannot be continued, and is dropped.
void complete_run(Snapshot& snapshot) {
  const bool is_hermite = snapshot.run && snapshot.run->integrator == IntegratorKind::Hermite4;
  bool continues = snapshot.run && snapshot.run->time() == snapshot.time;
  if (is_hermite && snapshot.hermite) {
    snapshot.hermite->cycle = snapshot.run->step;
    snapshot.hermite->now = snapshot.run->fraction;
    const auto [degree, theta] = hermite_tree(*snapshot.run);
    snapshot.hermite->tree_degree = degree;
    snapshot.hermite->tree_theta = theta;
    continues = continues && has_particles_of(snapshot, *snapshot.hermite);
  }
  if (!continues) snapshot.run.reset();
  if (!continues || !is_hermite) snapshot.hermite.reset();
}

}  // namespace

double RunState::time() const noexcept {
  return start_time + (static_cast<double>(step) + fraction) * time_step;
}

std::pair<unsigned, double> hermite_tree(const RunState& run) noexcept {
  constexpr double largest_degree = 6, largest_theta = 0.95;
  const double degree = run.tree_degree, theta = run.tree_theta;
  const bool is_choice = degree <= largest_degree && degree == std::floor(degree) &&
                         theta <= largest_theta && (degree > 0) == (theta > 0);
  if (!is_choice) return {};
  return {static_cast<unsigned>(degree), theta};
}

std::string run_number_defect(const RunNumber& number, double value) {
  if (number.range == NumberRange::Any) return {};
  if (!std::isfinite(value)) return fmt::format("expected a finite number, got {}", value);
  const bool positive = number.range == NumberRange::Positive;
  if (positive && value <= 0) return fmt::format("expected a number above 0, got {}", value);
  const bool at_least_zero =
      number.range == NumberRange::AtLeastZero || number.range == NumberRange::Fraction;
  if (at_least_zero && value < 0) return fmt::format("expected at least 0, got {}", value);
  if (number.range == NumberRange::Fraction && value > 1)
    return fmt::format("expected at most 1, got {}", value);
  return {};
}

SnapshotFormat snapshot_format(const std::string& path) {
  return is_hdf5(path) || binary_format(path) ? SnapshotFormat::Hdf5 : SnapshotFormat::Text;
}

Snapshot read_snapshot(const std::string& path, const SnapshotReading& how) {
  try {
    Snapshot snapshot;
    if (is_hdf5(path)) {
      snapshot = read_gadget(path, how.open_hdf5, how);
    } else if (const auto open = binary_format(path)) {
      snapshot = read_gadget(path, *open, how);
    } else {
      const std::string content = read_file(path);
      check_text(path, content);
      snapshot = parse_text_snapshot(content, path);
      if (how.omitted[text_particle_type])
        refuse(path, "is text, of which all particles are of type 1, which is left out");
    }
    check_finite(snapshot, path);
    complete_run(snapshot);
    return snapshot;
  } catch (const std::bad_alloc&) {
    refuse(path, "holds more than this machine's memory");
  }
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
