// Reading GADGET-style snapshots of this library and of other codes, from files of any StoredFile.
#include <fmt/format.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libgdr/io/gadget_parts.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

/// Numbers of the header that runs copy to their snapshots.
constexpr const char* kept_header[] = {"BoxSize", "HubbleParam", "Omega0", "OmegaLambda",
                                       "Redshift"};

/// Throws unless a dataset has `width` stored numbers for each of `count` particles.
void check_numbers(const StoredFile& file, const std::string& dataset, std::size_t count,
                   std::size_t width) {
  const auto shape = file.shape(dataset);
  const bool column = width == 1 && shape.size() == 1 && shape[0] == count;
  const bool matrix = shape.size() == 2 && shape[0] == count && shape[1] == width;
  if (!column && !matrix)
    file.fail(dataset, fmt::format("has shape ({}); expected ({})", fmt::join(shape, ", "),
                                   width == 1 ? fmt::format("{}", count)
                                              : fmt::format("{}, {}", count, width)));
  file.check(dataset);
}

void check_ids(const StoredFile& file, const std::string& dataset, std::size_t count) {
  const std::size_t ids = element_count(file.shape(dataset));
  if (ids != count) file.fail(dataset, fmt::format("has {} ids for {} particles", ids, count));
  const NumberClass kind = file.number_class(dataset);
  if (kind != NumberClass::Signed && kind != NumberClass::Unsigned)
    file.fail(dataset, "does not hold integers");
  file.check(dataset);
}

double mass_in_table(const StoredFile& file, std::size_t type) {
  const double mass = per_type(file, "MassTable")[type];
  if (mass == 0)
    file.fail(group_name(type),
              fmt::format("has no dataset Masses and no mass in MassTable for type {}", type));
  return mass;
}

/// Check all shapes of a file before anything is read.
void check_datasets(const StoredFile& file, const std::vector<std::size_t>& counts,
                    const SnapshotReading& how) {
  for (std::size_t type = 0; type < counts.size(); ++type) {
    const std::size_t n = counts[type];
    if (n == 0) continue;
    const std::string group = group_name(type);
    check_numbers(file, group + "/Coordinates", n, 3);
    const bool has_masses = file.has(group + "/Masses");
    if (has_masses) check_numbers(file, group + "/Masses", n, 1);
    if (file.has(group + "/ParticleIDs")) check_ids(file, group + "/ParticleIDs", n);
    if (how.velocities == Velocities::Needed) {
      if (!file.has(group + "/Velocities"))
        file.fail(group, "has no dataset Velocities, shape (n, 3)" + how.without_velocities);
      check_numbers(file, group + "/Velocities", n, 3);
    }
    if (!has_masses) mass_in_table(file, type);
  }
}

/// What the ids of a snapshot are in its files.
struct Ids {
  bool some = false, none = false;  ///< particles with ids, and without
  bool large_unsigned = false;      ///< unsigned ids from 2^63 on
  bool negative = false, any_signed = false;
};

/// Reads ids to their places in the snapshot.
void read_ids(const StoredFile& file, const std::string& dataset, std::span<std::uint64_t> to,
              Ids& found) {
  if (!file.has(dataset)) {
    found.none = true;
    return;
  }
  const bool is_signed = file.number_class(dataset) == NumberClass::Signed;
  file.read(dataset, to, is_signed);
  found.some = true;
  found.any_signed |= is_signed;
  const bool top_bit = std::ranges::any_of(to, [](std::uint64_t id) { return id >> 63 != 0; });
  (is_signed ? found.negative : found.large_unsigned) |= top_bit;
}

/// Ids of all types and files, or of none: a mixture would be ambiguous. Signed and unsigned ids of
/// different types are both kept where one type of number can represent all of them.
void complete_ids(const StoredFile& file, const Ids& found, Snapshot& snapshot) {
  if (found.some && found.none)
    file.fail("ParticleIDs:",
              "some particles have ids and some have none; give ids to all or to none");
  if (found.negative && found.large_unsigned)
    file.fail("ParticleIDs:",
              "negative ids of one type and ids from 2^63 on of another do not fit "
              "one type of number; renumber them");
  snapshot.signed_ids = found.any_signed && !found.large_unsigned;
  for (std::size_t i = 0; found.none && i < snapshot.size(); ++i) snapshot.id[i] = i + 1;
}

/// Reads the particles of a type in a file, `n` of them, to their places from `first` on.
void read_particles(const StoredFile& file, std::size_t type, std::size_t first, std::size_t n,
                    Snapshot& snapshot, Ids& ids) {
  const std::string group = group_name(type);
  const auto part = [&](auto& all, std::size_t width) {
    return std::span(all).subspan(first * width, n * width);
  };
  file.read(group + "/Coordinates", part(snapshot.position, 3));
  if (!snapshot.velocity.empty()) file.read(group + "/Velocities", part(snapshot.velocity, 3));
  if (file.has(group + "/Masses"))
    file.read(group + "/Masses", part(snapshot.mass, 1));
  else
    std::ranges::fill(part(snapshot.mass, 1), mass_in_table(file, type));
  read_ids(file, group + "/ParticleIDs", part(snapshot.id, 1), ids);
}

/// Makes a vector of `count` zeros, on large pages where the host has them: the first use of 64 MB
/// on small ones takes as long as reading them.
template <typename Number>
void make_room(std::vector<Number>& values, std::size_t count) {
  values.reserve(count);
#if defined(__linux__)
  constexpr std::uintptr_t large_page = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(values.data());
  const std::uintptr_t begin = (address + large_page - 1) / large_page * large_page;
  const std::uintptr_t end = (address + count * sizeof(Number)) / large_page * large_page;
  // Only advice: a failure is harmless.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  values.resize(count);
}

/// Particles of each type in each file, after a check of all files.
std::vector<std::vector<std::size_t>> checked_counts(SnapshotFiles& files,
                                                     const SnapshotReading& how) {
  std::vector<std::vector<std::size_t>> counts;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const StoredFile& file = files.open(k);
    check_same_snapshot(files.first(), file);
    counts.push_back(count_particles(file, how.omitted));
    check_datasets(file, counts.back(), how);
  }
  return counts;
}

std::vector<std::size_t> total_counts(const std::vector<std::vector<std::size_t>>& counts) {
  std::vector<std::size_t> total(max_particle_types, 0);
  for (const std::vector<std::size_t>& each : counts)
    for (std::size_t type = 0; type < each.size(); ++type) total[type] += each[type];
  while (total.size() > usual_particle_types && total.back() == 0) total.pop_back();
  return total;
}

void read_header(const StoredFile& file, Snapshot& snapshot) {
  if (const auto time = file.attribute("Header", "Time")) snapshot.time = time->front();
  if (!std::isfinite(snapshot.time)) file.fail("Header/Time", "is not a finite number");
  for (const char* name : kept_header)
    if (auto values = file.attribute("Header", name)) snapshot.header[name] = std::move(*values);
}

double number_of_run(const StoredFile& file, const RunNumber& number) {
  const auto value = file.attribute("GDR", number.hdf5_name);
  if (!value) file.fail("GDR", fmt::format("has no attribute {}", number.hdf5_name));
  const std::string where = fmt::format("GDR/{}:", number.hdf5_name);
  if (value->size() != 1) file.fail(where, fmt::format("expected a number, got {}", value->size()));
  if (const std::string defect = run_number_defect(number, value->front()); !defect.empty())
    file.fail(where, defect);
  return value->front();
}

/// The additional state of a run with the Hermite scheme.
void read_hermite(const StoredFile& file, RunState& run, Snapshot& snapshot) {
  run.integrator = IntegratorKind::Hermite4;
  for (const RunNumber& number : hermite_numbers) run.*number.value = number_of_run(file, number);
  HermiteState state;
  for (const HermiteArray& array : hermite_arrays) {
    const std::string dataset = fmt::format("GDR/{}", array.hdf5_name);
    if (!file.has(dataset)) file.fail("GDR", fmt::format("has no dataset {}", array.hdf5_name));
    check_numbers(file, dataset, snapshot.size(), array.width);
    std::vector<double>& values = state.*array.values;
    values = file.doubles(dataset);
    const auto wrong = std::ranges::find_if_not(values, [](double x) { return std::isfinite(x); });
    if (wrong == values.end()) continue;
    const auto at = static_cast<std::size_t>(wrong - values.begin());
    const std::string place = array.width == 1
                                  ? fmt::format("[{}]", at)
                                  : fmt::format("[{}, {}]", at / array.width, at % array.width);
    file.fail(dataset + place, std::isnan(*wrong) ? "is not a number" : "is infinite");
  }
  snapshot.hermite = std::move(state);
}

/// The state of a run, if `gdr nbody` or the Python package wrote the file.
void read_run(const StoredFile& file, Snapshot& snapshot) {
  if (!file.has("GDR")) return;
  const bool hermite = file.attribute("GDR", hermite_numbers[0].hdf5_name).has_value();
  const auto step = file.integer_attribute("GDR", "Step");
  if (!step && !hermite) return;
  if (!step) file.fail("GDR", "has no attribute Step");
  if (*step < 0) file.fail("GDR/Step:", fmt::format("expected at least 0, got {}", *step));
  RunState run;
  run.step = *step;
  for (const RunNumber& number : run_numbers) run.*number.value = number_of_run(file, number);
  for (const RunNumber& number : optional_numbers)
    if (file.attribute("GDR", number.hdf5_name)) run.*number.value = number_of_run(file, number);
  if (hermite) read_hermite(file, run, snapshot);
  snapshot.run = run;
}

}  // namespace

Snapshot read_gadget(const std::string& path, const OpenStoredFile& open,
                     const SnapshotReading& how) {
  SnapshotFiles files(path, open);
  const auto counts = checked_counts(files, how);
  Snapshot snapshot;
  snapshot.type_counts = total_counts(counts);
  if (files.size() > 1) check_total(files.first(), snapshot.type_counts, how.omitted);
  // The first particle of each type in the next file.
  std::vector<std::size_t> next(snapshot.type_counts.size(), 0);
  for (std::size_t type = 1; type < next.size(); ++type)
    next[type] = next[type - 1] + snapshot.type_counts[type - 1];
  const std::size_t n = next.back() + snapshot.type_counts.back();
  if (n == 0)
    files.first().fail("PartType0, PartType1, ...:",
                       how.omitted.any() ? "no particles in any of them that is not left out"
                                         : "no particles in any of them");
  make_room(snapshot.position, 3 * n);
  make_room(snapshot.velocity, how.velocities == Velocities::Needed ? 3 * n : 0);
  make_room(snapshot.mass, n);
  make_room(snapshot.id, n);

  Ids ids;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const StoredFile& file = files.open(k);
    if (files.size() > 1 && count_particles(file, how.omitted) != counts[k])
      file.fail("PartType0, PartType1, ...:", "changed while the snapshot was read; read it again");
    for (std::size_t type = 0; type < next.size(); ++type) {
      const std::size_t here = counts[k][type];
      if (here > 0) read_particles(file, type, next[type], here, snapshot, ids);
      next[type] += here;
    }
  }
  complete_ids(files.first(), ids, snapshot);
  read_header(files.first(), snapshot);
  // The state of a run is one of all its particles.
  if (files.size() == 1 && how.omitted.none()) read_run(files.first(), snapshot);
  return snapshot;
}

}  // namespace gdr
