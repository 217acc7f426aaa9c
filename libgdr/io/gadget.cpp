// GADGET-style HDF5 snapshots of this library and of other codes, and files of forces.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/gadget_parts.hpp"
#include "libgdr/io/hdf5.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

/// Numbers of the header that runs copy to their snapshots.
constexpr const char* kept_header[] = {"BoxSize", "HubbleParam", "Omega0", "OmegaLambda",
                                       "Redshift"};

/// Throws unless a dataset has `width` stored numbers for each of `count` particles.
void check_numbers(const hdf5::Reader& file, const std::string& dataset, std::size_t count,
                   std::size_t width) {
  const auto shape = file.shape(dataset);
  const bool column = width == 1 && shape.size() == 1 && shape[0] == count;
  const bool matrix = shape.size() == 2 && shape[0] == count && shape[1] == width;
  if (!column && !matrix)
    file.fail(dataset, fmt::format("has the shape ({}); must be ({})", fmt::join(shape, ", "),
                                   width == 1 ? fmt::format("{}", count)
                                              : fmt::format("{}, {}", count, width)));
  file.check(dataset);
}

void check_ids(const hdf5::Reader& file, const std::string& dataset, std::size_t count) {
  const hsize_t ids = hdf5::element_count(file.shape(dataset));
  if (ids != count) file.fail(dataset, fmt::format("has {} ids for {} particles", ids, count));
  const hdf5::NumberClass kind = file.number_class(dataset);
  if (kind == hdf5::NumberClass::Float) file.fail(dataset, "does not hold integers");
  file.check(dataset);
}

/// Check all shapes before anything is read.
void check_datasets(const hdf5::Reader& file, const std::vector<std::size_t>& counts,
                    Velocities velocities) {
  for (std::size_t type = 0; type < counts.size(); ++type) {
    if (counts[type] == 0) continue;
    const std::string group = group_name(type);
    check_numbers(file, group + "/Coordinates", counts[type], 3);
    if (file.has(group + "/Masses")) check_numbers(file, group + "/Masses", counts[type], 1);
    if (file.has(group + "/ParticleIDs")) check_ids(file, group + "/ParticleIDs", counts[type]);
    if (velocities == Velocities::Ignored) continue;
    if (!file.has(group + "/Velocities"))
      file.fail(group, "lacks the dataset Velocities, shape (n, 3)");
    check_numbers(file, group + "/Velocities", counts[type], 3);
  }
}

void append(const hdf5::Reader& file, const std::string& dataset, std::vector<double>& to) {
  const std::vector<double> values = file.doubles(dataset);
  to.insert(to.end(), values.begin(), values.end());
}

void append_masses(const hdf5::Reader& file, std::size_t type, std::size_t count,
                   Snapshot& snapshot) {
  const std::string dataset = group_name(type) + "/Masses";
  if (file.has(dataset)) return append(file, dataset, snapshot.mass);
  const PerType mass_table = per_type(file, "MassTable");
  if (mass_table[type] == 0)
    file.fail(group_name(type), fmt::format("lacks the dataset Masses, and Header/MassTable has no "
                                            "mass for type {} either",
                                            type));
  snapshot.mass.insert(snapshot.mass.end(), count, mass_table[type]);
}

/// Ids of all types and files, or of none: a mixture would be ambiguous. Signed and unsigned ids of
/// different types are both kept where one type of number can represent all of them.
void read_ids(const std::vector<SnapshotPart>& parts, Snapshot& snapshot) {
  bool large_unsigned = false, negative = false, any_signed = false;
  const auto top_bit = [](std::uint64_t id) { return id >> 63 != 0; };
  for (std::size_t type = 0; type < snapshot.type_counts.size(); ++type) {
    const std::string dataset = group_name(type) + "/ParticleIDs";
    for (const auto& [file, counts] : parts) {
      if (counts[type] == 0 || !file.has(dataset)) continue;
      const bool is_signed = file.number_class(dataset) == hdf5::NumberClass::Signed;
      const std::vector<std::uint64_t> ids = file.integers(dataset, is_signed);
      snapshot.id.insert(snapshot.id.end(), ids.begin(), ids.end());
      any_signed |= is_signed;
      (is_signed ? negative : large_unsigned) |= std::ranges::any_of(ids, top_bit);
    }
  }
  const hdf5::Reader& file = parts.front().file;
  const std::size_t n = snapshot.size();
  if (!snapshot.id.empty() && snapshot.id.size() != n)
    file.fail("ParticleIDs",
              "some particles have ids and some have none; give ids to all or to none");
  if (negative && large_unsigned)
    file.fail("ParticleIDs",
              "negative ids of one type and ids from 2^63 on of another do not fit "
              "one type of number; renumber them");
  snapshot.signed_ids = any_signed && !large_unsigned;
  for (std::size_t i = snapshot.id.size(); i < n; ++i) snapshot.id.push_back(i + 1);
}

void read_header(const hdf5::Reader& file, Snapshot& snapshot) {
  if (!file.has("Header")) return;
  if (const auto time = file.attribute("Header", "Time")) snapshot.time = time->front();
  if (!std::isfinite(snapshot.time)) file.fail("Header/Time", "is not a finite number");
  for (const char* name : kept_header)
    if (auto values = file.attribute("Header", name)) snapshot.header[name] = std::move(*values);
}

double number_of_run(const hdf5::Reader& file, const RunNumber& number) {
  const auto value = file.attribute("GDR", number.hdf5_name);
  if (!value) file.fail("GDR", fmt::format("lacks the attribute {}", number.hdf5_name));
  return value->front();
}

/// The additional state of a run with the Hermite scheme.
void read_hermite(const hdf5::Reader& file, RunState& run, Snapshot& snapshot) {
  run.integrator = IntegratorKind::Hermite4;
  for (const RunNumber& number : hermite_numbers) run.*number.value = number_of_run(file, number);
  HermiteState state;
  for (const HermiteArray& array : hermite_arrays) {
    const std::string dataset = fmt::format("GDR/{}", array.hdf5_name);
    if (!file.has(dataset)) file.fail("GDR", fmt::format("lacks the dataset {}", array.hdf5_name));
    check_numbers(file, dataset, snapshot.size(), array.width);
    state.*array.values = file.doubles(dataset);
  }
  snapshot.hermite = std::move(state);
}

/// The state of a run, if `gdr nbody` wrote the file. If another code has advanced the particles
/// and kept the group, the times disagree, and the run cannot be continued.
void read_run(const hdf5::Reader& file, Snapshot& snapshot) {
  const auto step = file.has("GDR") ? file.integer_attribute("GDR", "Step") : std::nullopt;
  if (!step) return;
  RunState run;
  run.step = *step;
  for (const RunNumber& number : run_numbers) run.*number.value = number_of_run(file, number);
  const bool hermite = file.attribute("GDR", hermite_numbers[0].hdf5_name).has_value();
  if (hermite) read_hermite(file, run, snapshot);
  const bool sound = std::isfinite(run.start_time) && run.time_step > 0 && run.step >= 0 &&
                     std::isfinite(run.time_step) && run.softening >= 0;
  if (sound && run.time() == snapshot.time) snapshot.run = run;
}

/// The header of GADGET-2; masses are in datasets, so MassTable is zero.
void write_header(hdf5::Writer& file, const Snapshot& snapshot) {
  std::vector<std::int64_t> counts(snapshot.type_counts.begin(), snapshot.type_counts.end());
  counts.resize(std::max(counts.size(), usual_particle_types), 0);
  std::vector<std::int64_t> low, high;
  for (const std::int64_t count : counts) {
    low.push_back(count & 0xffffffff);
    high.push_back(count >> 32);
  }
  const bool in_32_bits = std::all_of(high.begin(), high.end(), [](auto h) { return h == 0; });
  file.group("Header");
  file.attribute("Header", "NumPart_ThisFile", in_32_bits ? H5T_STD_I32LE : H5T_STD_I64LE, counts);
  file.attribute("Header", "NumPart_Total", H5T_STD_U32LE, low);
  file.attribute("Header", "NumPart_Total_HighWord", H5T_STD_U32LE, high);
  file.attribute("Header", "MassTable", std::vector<double>(counts.size(), 0.0));
  file.attribute("Header", "NumFilesPerSnapshot", H5T_STD_I32LE, std::int64_t{1});
  file.attribute("Header", "Flag_DoublePrecision", H5T_STD_I32LE, std::int64_t{1});
  file.attribute("Header", "Time", snapshot.time);
  // Readers of other codes expect these two even where they have no meaning.
  auto kept = snapshot.header;
  kept.try_emplace("BoxSize", std::vector{0.0});
  kept.try_emplace("Redshift", std::vector{0.0});
  for (const auto& [name, values] : kept) {
    if (values.size() == 1)
      file.attribute("Header", name, values.front());
    else
      file.attribute("Header", name, values);
  }
}

void write_run(hdf5::Writer& file, const Snapshot& snapshot) {
  const RunState& run = *snapshot.run;
  file.group("GDR");
  file.attribute("GDR", "Step", H5T_STD_I64LE, run.step);
  for (const RunNumber& number : run_numbers)
    file.attribute("GDR", number.hdf5_name, run.*number.value);
  if (!snapshot.hermite) return;
  for (const RunNumber& number : hermite_numbers)
    file.attribute("GDR", number.hdf5_name, run.*number.value);
  for (const HermiteArray& array : hermite_arrays) {
    const std::array<hsize_t, 2> shape = {snapshot.size(), array.width};
    file.doubles(fmt::format("GDR/{}", array.hdf5_name),
                 std::span(shape).first(array.width == 1 ? 1 : 2),
                 (*snapshot.hermite).*array.values);
  }
}

void write_type(hdf5::Writer& file, const Snapshot& snapshot, std::size_t type, std::size_t first,
                std::size_t count) {
  const std::string group = group_name(type);
  const std::array<hsize_t, 2> triples = {count, 3};
  const std::array<hsize_t, 1> singles = {count};
  const auto part = [&](const std::vector<double>& all, std::size_t width) {
    return std::span(all).subspan(first * width, count * width);
  };
  file.group(group);
  file.doubles(group + "/Coordinates", triples, part(snapshot.position, 3));
  file.doubles(group + "/Velocities", triples, part(snapshot.velocity, 3));
  file.doubles(group + "/Masses", singles, part(snapshot.mass, 1));
  file.integers(group + "/ParticleIDs", singles, std::span(snapshot.id).subspan(first, count),
                snapshot.signed_ids);
}

}  // namespace

Snapshot read_gadget(const std::string& path, Velocities velocities) {
  const std::vector<SnapshotPart> parts = open_parts(path);
  const hdf5::Reader& first = parts.front().file;
  Snapshot snapshot;
  snapshot.type_counts = total_counts(parts);
  for (const SnapshotPart& part : parts) check_datasets(part.file, part.counts, velocities);
  for (std::size_t type = 0; type < snapshot.type_counts.size(); ++type) {
    const std::string group = group_name(type);
    for (const auto& [file, counts] : parts) {
      if (counts[type] == 0) continue;
      append(file, group + "/Coordinates", snapshot.position);
      append_masses(file, type, counts[type], snapshot);
      if (velocities == Velocities::Needed) append(file, group + "/Velocities", snapshot.velocity);
    }
  }
  if (snapshot.size() == 0) first.fail("PartType0, PartType1, ...", "no particles in any of them");
  read_ids(parts, snapshot);
  read_header(first, snapshot);
  if (parts.size() == 1) read_run(first, snapshot);
  return snapshot;
}

std::string gadget_image(const Snapshot& snapshot) {
  hdf5::Writer file;
  write_header(file, snapshot);
  if (snapshot.run) write_run(file, snapshot);
  std::size_t first = 0;
  for (std::size_t type = 0; type < snapshot.type_counts.size(); ++type) {
    const std::size_t count = snapshot.type_counts[type];
    if (count > 0) write_type(file, snapshot, type, first, count);
    first += count;
  }
  return file.finish();
}

void write_forces(const std::string& path, const Snapshot& snapshot, const ForceOrigin& origin,
                  std::span<const ForceDataset> results) {
  const std::vector<std::int64_t> counts(snapshot.type_counts.begin(), snapshot.type_counts.end());
  hdf5::Writer file;
  for (const ForceDataset& d : results) {
    const std::array<hsize_t, 2> both = {snapshot.size(), d.width};
    const std::span shape = std::span(both).first(d.width == 1 ? 1 : 2);
    if (d.integers.empty()) {
      file.doubles(d.name, shape, d.numbers);
    } else {
      const std::vector<std::uint64_t> bits(d.integers.begin(), d.integers.end());
      file.integers(d.name, shape, bits, true);
    }
  }
  file.integers("ParticleIDs", std::array<hsize_t, 1>{snapshot.size()}, snapshot.id,
                snapshot.signed_ids);
  file.attribute("/", "softening", origin.softening);
  file.attribute("/", "G", origin.gravity);
  file.attribute("/", "Time", snapshot.time);
  file.attribute("/", "kernel", origin.kernel);
  file.attribute("/", "engine", origin.engine);
  file.attribute("/", "source", origin.source);
  file.attribute("/", "NumPart_ThisFile", H5T_STD_I64LE, counts);
  write_file_atomically(path, file.finish());
}

}  // namespace gdr
