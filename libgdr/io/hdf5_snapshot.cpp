// Snapshots and files of forces with the HDF5 library, for the command.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/gadget_parts.hpp"
#include "libgdr/io/hdf5.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

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
  for (const RunNumber& number : optional_numbers)
    if (run.*number.value != 0) file.attribute("GDR", number.hdf5_name, run.*number.value);
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

std::unique_ptr<StoredFile> open_hdf5(const std::string& file) {
  return std::make_unique<hdf5::Reader>(file);
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
  if (origin.accuracy > 0) {
    file.attribute("/", "accuracy", origin.accuracy);
    file.attribute("/", "error", origin.error);
  }
  file.attribute("/", "NumPart_ThisFile", H5T_STD_I64LE, counts);
  write_file_atomically(path, file.finish());
}

}  // namespace gdr
