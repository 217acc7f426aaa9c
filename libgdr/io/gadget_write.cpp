// Writing GADGET-style HDF5 snapshots.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libgdr/io/gadget.hpp"
#include "libgdr/io/hdf5_writer.hpp"

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
  const std::int64_t one = 1;
  file.group("Header");
  file.integer_attribute("Header", "NumPart_ThisFile", in_32_bits ? H5T_STD_I32LE : H5T_STD_I64LE,
                         counts, false);
  file.integer_attribute("Header", "NumPart_Total", H5T_STD_U32LE, low, false);
  file.integer_attribute("Header", "NumPart_Total_HighWord", H5T_STD_U32LE, high, false);
  file.attribute("Header", "MassTable", std::vector<double>(counts.size(), 0.0), false);
  file.integer_attribute("Header", "NumFilesPerSnapshot", H5T_STD_I32LE, {&one, 1}, true);
  file.integer_attribute("Header", "Flag_DoublePrecision", H5T_STD_I32LE, {&one, 1}, true);
  file.attribute("Header", "Time", snapshot.time);
  // Readers of other codes expect these two even where they have no meaning.
  auto scalars = snapshot.header;
  scalars.try_emplace("BoxSize", 0.0);
  scalars.try_emplace("Redshift", 0.0);
  for (const auto& [name, value] : scalars) file.attribute("Header", name, value);
}

void write_run(hdf5::Writer& file, const RunState& run) {
  file.group("GDR");
  file.integer_attribute("GDR", "Step", H5T_STD_I64LE, {&run.step, 1}, true);
  for (const RunAttribute& attribute : run_attributes)
    file.attribute("GDR", attribute.name, run.*attribute.number);
}

void write_type(hdf5::Writer& file, const Snapshot& snapshot, std::size_t type, std::size_t first,
                std::size_t count) {
  const std::string group = fmt::format("PartType{}", type);
  const std::array<hsize_t, 2> triples = {count, 3};
  const std::array<hsize_t, 1> singles = {count};
  const auto part = [&](const std::vector<double>& all, std::size_t width) {
    return std::span(all).subspan(first * width, count * width);
  };
  file.group(group);
  file.doubles(group + "/Coordinates", triples, part(snapshot.position, 3));
  file.doubles(group + "/Velocities", triples, part(snapshot.velocity, 3));
  file.doubles(group + "/Masses", singles, part(snapshot.mass, 1));
  file.integers(group + "/ParticleIDs", std::span(snapshot.id).subspan(first, count),
                snapshot.signed_ids);
}

}  // namespace

std::vector<char> gadget_image(const Snapshot& snapshot) {
  hdf5::Writer file;
  write_header(file, snapshot);
  if (snapshot.run) write_run(file, *snapshot.run);
  std::size_t first = 0;
  for (std::size_t type = 0; type < snapshot.type_counts.size(); ++type) {
    const std::size_t count = snapshot.type_counts[type];
    if (count > 0) write_type(file, snapshot, type, first, count);
    first += count;
  }
  return file.finish();
}

}  // namespace gdr
