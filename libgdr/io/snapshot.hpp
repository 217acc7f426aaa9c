// A snapshot: the particles of a simulation at one time, and the state of the run that wrote it;
// its files, and files of forces on its particles.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gdr/hermite.hpp"
#include "libgdr/io/stored_file.hpp"

namespace gdr {

enum class IntegratorKind { Leapfrog, Hermite4 };

/// State from which a run continues bit-identically: time is
/// start_time + (step + fraction) * time_step, exactly.
struct RunState {
  double start_time = 0;  ///< time of step 0
  double time_step = 0;   ///< time step; of Hermite4 the largest block step, a cycle
  std::int64_t step = 0;  ///< steps since start_time
  double softening = 0;
  double gravity = 1;       ///< constant of gravity
  double start_energy = 0;  ///< total energy at step 0, the reference of drifts
  IntegratorKind integrator = IntegratorKind::Leapfrog;
  double accuracy = 0;  ///< accuracy of forces, with trees (gdr::TreeOptions); 0: direct sums
  // Number of the gdr::TreeMethod (leapfrog only), degree and theta of the last tree.
  double tree_method = 0, tree_degree = 0, tree_theta = 0;
  // The others belong to Hermite4 (gdr::HermiteOptions).
  double fraction = 0;  ///< part of the present step that is done
  double eta = 0, eta_start = 0, smallest_step = 0;

  /// start_time + (step + fraction) * time_step, rounded after each operation: the same bits in
  /// every caller, whatever its compiler fuses.
  double time() const noexcept;
  friend bool operator==(const RunState&, const RunState&) = default;
};

/// Degree and theta of the last tree of a run with Hermite4; zeros also for numbers in a file that
/// no tree has.
std::pair<unsigned, double> hermite_tree(const RunState& run) noexcept;

/// Values that a number of a run can have; all but Any are finite.
enum class NumberRange { Any, Finite, AtLeastZero, Positive, Fraction };

/// A number of a run's state, and its names in HDF5 and in text files.
struct RunNumber {
  const char *hdf5_name, *text_name;
  double RunState::*value;
  NumberRange range;
};
/// Energies of extreme masses and speeds overflow; such a run can continue nevertheless.
constexpr RunNumber run_numbers[] = {
    {"StartTime", "start_time", &RunState::start_time, NumberRange::Finite},
    {"TimeStep", "time_step", &RunState::time_step, NumberRange::Positive},
    {"Softening", "softening", &RunState::softening, NumberRange::AtLeastZero},
    {"G", "gravity", &RunState::gravity, NumberRange::Positive},
    {"StartEnergy", "start_energy", &RunState::start_energy, NumberRange::Any}};
/// Numbers that are in files only if they are not zero.
constexpr RunNumber optional_numbers[] = {
    {"Accuracy", "accuracy", &RunState::accuracy, NumberRange::Fraction},
    {"TreeMethod", "tree_method", &RunState::tree_method, NumberRange::AtLeastZero},
    {"TreeDegree", "tree_degree", &RunState::tree_degree, NumberRange::AtLeastZero},
    {"TreeTheta", "tree_theta", &RunState::tree_theta, NumberRange::Fraction}};
/// The additional numbers of a run with Hermite4: files that have them are of such a run.
constexpr RunNumber hermite_numbers[] = {
    {"StepFraction", "step_fraction", &RunState::fraction, NumberRange::Fraction},
    {"Eta", "eta", &RunState::eta, NumberRange::Positive},
    {"EtaStart", "eta_start", &RunState::eta_start, NumberRange::Positive},
    {"SmallestStep", "smallest_step", &RunState::smallest_step, NumberRange::AtLeastZero}};
/// Why a value cannot be this number of a run; empty if it can.
std::string run_number_defect(const RunNumber& number, double value);
/// An array of a Hermite state: its name in HDF5, and numbers for each particle. In a line of a
/// text file its numbers have this order.
struct HermiteArray {
  const char* hdf5_name;
  std::size_t width;
  std::vector<double> HermiteState::*values;
};
constexpr HermiteArray hermite_arrays[] = {
    {"ParticleTime", 1, &HermiteState::time},         {"ParticleStep", 1, &HermiteState::step},
    {"Position", 3, &HermiteState::position},         {"Velocity", 3, &HermiteState::velocity},
    {"Acceleration", 3, &HermiteState::acceleration}, {"Jerk", 3, &HermiteState::jerk}};

/// Particles in file order: those of type 0 first, then type 1, and so on. Units are the user's.
struct Snapshot {
  double time = 0;
  std::vector<std::size_t> type_counts;  ///< particles of each type (GADGET's PartType0, 1, ...)
  std::vector<double> position;          ///< n triples
  std::vector<double> velocity;          ///< n triples; empty if velocities were not read
  std::vector<double> mass;
  std::vector<std::uint64_t> id;  ///< bit patterns; of signed numbers if signed_ids
  bool signed_ids = false;
  /// Numbers of the header that runs copy unchanged: BoxSize (one number, or three edges),
  /// Redshift, ...
  std::map<std::string, std::vector<double>> header;
  std::optional<RunState> run;          ///< state of a run, in files of `gdr nbody`
  std::optional<HermiteState> hermite;  ///< state of runs with Hermite4

  std::size_t size() const noexcept { return mass.size(); }
};

/// Type names go from PartType0 to the one before this.
constexpr std::size_t max_particle_types = 16;
/// Number of types in every GADGET header.
constexpr std::size_t usual_particle_types = 6;
/// Type of the particles of text files.
constexpr std::size_t text_particle_type = 1;

enum class Velocities { Needed, Ignored };
enum class SnapshotFormat { Hdf5, Text };

/// How a snapshot is read.
struct SnapshotReading {
  Velocities velocities = Velocities::Needed;
  /// Opens files whose content is HDF5.
  OpenStoredFile open_hdf5;
  /// How the caller's users read a file without velocities, as the end of a sentence.
  std::string without_velocities;
  /// Types of particles that are left out: nothing of them is read or checked.
  std::bitset<max_particle_types> omitted;
};

/// Read a snapshot of any format, detected by its content: HDF5, GADGET's binary formats 1 and 2,
/// TIPSY's, or text (of which all particles are of type 1). A run whose time or particles were
/// changed in the file is dropped. Throws Error (Io) for a file that cannot be read, Error (Input)
/// for one that is no snapshot, has no particles, or holds a NaN or an infinity; the message names
/// file, dataset or line, and the particle.
Snapshot read_snapshot(const std::string& path, const SnapshotReading& how);
/// The same with the HDF5 library. Of the command, as `open_hdf5`, `write_*` and `gadget_image`;
/// all else here is part of the library, and of the Python package. In a build without HDF5 they
/// throw Error (Unsupported) for such files.
Snapshot read_snapshot(const std::string& path, Velocities velocities = Velocities::Needed,
                       std::bitset<max_particle_types> omitted = {});
/// A file read with the HDF5 library. Throws Error (Io or Input).
std::unique_ptr<StoredFile> open_hdf5(const std::string& file);
/// The format of what is written for a snapshot: text for text, HDF5 for all others. Detected by
/// the content of the file, with the same errors.
SnapshotFormat snapshot_format(const std::string& path);
/// Write a snapshot atomically: a failure leaves the old file. Throws Error (Io).
void write_snapshot(const std::string& path, const Snapshot& snapshot, SnapshotFormat format);
/// Write a snapshot to a new file in `folder`, readable by this user only, under an unpredictable
/// name that begins with `prefix` (see write_private_file). Returns its path. Throws Error (Io).
std::string write_private_snapshot(const std::string& folder, std::string_view prefix,
                                   const Snapshot& snapshot, SnapshotFormat format);

/// The particle's id as text, in the signedness of the file.
std::string id_text(const Snapshot& snapshot, std::size_t particle);
/// "hdf5" or "text".
const char* format_name(SnapshotFormat format) noexcept;

/// Read a file with GADGET's groups, of this library or of another code, as `open` opens it: group
/// Header, and a group PartTypeN for each type of particle. Coordinates, Velocities and Masses may
/// be of any float or integer type; a dataset Masses overrides MassTable; ids may be signed or
/// missing (then they are 1, 2, ... in file order); of the header nothing is required. A dataset
/// without numbers, whatever its shape, has no particles. The name of one file of a snapshot in
/// several (snap.0.hdf5, snap.1.hdf5, ..., or snap.000.hdf5, ...) selects all of them; their
/// particles are ordered by type. Throws Error (Io, Input).
Snapshot read_gadget(const std::string& path, const OpenStoredFile& open,
                     const SnapshotReading& how);
/// The bytes of such a file: all numbers in double, so that reading gives the same bits. The state
/// of a run is in the attributes of a group GDR, which other codes ignore.
std::string gadget_image(const Snapshot& snapshot);

/// Parse a text snapshot, a line `m x y z vx vy vz` for each particle. `#` starts a comment; empty
/// lines are skipped. Comment lines of the form `#gdr: name = number` carry the time and the state
/// of the run (see docs/guides/simulations.md). Particles get type 1 and the ids 1, 2, .... Throws
/// Error (Input): `name:line:column: ...`.
Snapshot parse_text_snapshot(std::string_view text, const std::string& name);
/// The text form of a snapshot; parsing it gives the same bits. Types, ids and scalars of the
/// header are not stored.
std::string text_snapshot(const Snapshot& snapshot);

/// Parameters of a force computation: attributes of the root of its file.
struct ForceOrigin {
  double softening = 0;
  double gravity = 1;
  std::string kernel;   ///< "gravity"
  std::string engine;   ///< "vector"
  std::string source;   ///< name of the snapshot file
  double accuracy = 0;  ///< requested accuracy; 0: direct sums, without these two attributes
  double error = 0;     ///< measured error
};

/// One dataset of results: `width` values for each particle, numbers or integers.
struct ForceDataset {
  std::string name;
  std::size_t width = 1;
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
};

/// Write the datasets at the file's root as float64 or int64, (n) or (n, width), in the snapshot's
/// order (type 0 first, then 1, ...), and ParticleIDs (n); atomically. The attribute
/// NumPart_ThisFile holds the number of particles of each type. Throws Error (Io).
void write_forces(const std::string& path, const Snapshot& snapshot, const ForceOrigin& origin,
                  std::span<const ForceDataset> results);

}  // namespace gdr
