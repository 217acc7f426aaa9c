#include "libgdr/io/gadget_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

namespace fs = std::filesystem;

/// What files of one snapshot have in common, in the header.
constexpr const char* common_header[] = {
    "NumFilesPerSnapshot", "Time", "Redshift", "BoxSize", "NumPart_Total", "NumPart_Total_HighWord",
};

/// Particles of a type, by its Coordinates, of shape (n, 3); a dataset without numbers, of any
/// shape or none, has none.
std::size_t count_by_coordinates(const hdf5::Reader& file, std::size_t type) {
  const std::string dataset = group_name(type) + "/Coordinates";
  if (!file.has(dataset))
    file.fail(group_name(type), "lacks the dataset Coordinates, shape (n, 3)");
  const auto shape = file.shape(dataset);
  if (hdf5::element_count(shape) == 0) return 0;
  if (shape.size() != 2 || shape[1] != 3)
    file.fail(dataset, fmt::format("has the shape ({}); must be (n, 3)", fmt::join(shape, ", ")));
  return shape[0];
}

/// Some codes write groups without particles, with nothing in them.
bool has_nothing(const hdf5::Reader& file, const std::string& group) {
  return !file.has(group + "/Velocities") && !file.has(group + "/Masses") &&
         !file.has(group + "/ParticleIDs");
}

std::vector<std::size_t> count_particles(const hdf5::Reader& file) {
  const PerType in_header = per_type(file, "NumPart_ThisFile");
  std::vector<std::size_t> counts;
  for (std::size_t type = 0; type < max_particle_types; ++type) {
    const double expected = in_header[type];
    std::size_t found = 0;
    if (file.has(group_name(type))) {
      const bool empty = !file.has(group_name(type) + "/Coordinates") &&
                         (in_header.given ? expected == 0 : has_nothing(file, group_name(type)));
      found = empty ? 0 : count_by_coordinates(file, type);
    }
    if (in_header.given && static_cast<double>(found) != expected)
      file.fail("Header/NumPart_ThisFile",
                fmt::format("gives {} particles of type {}, but {} has {}", expected, type,
                            group_name(type), found));
    counts.push_back(found);
  }
  return counts;
}

/// Names of the files of a snapshot: of `snap.3.hdf5` snap.0.hdf5, snap.1.hdf5, ..., of
/// `snap.003.hdf5` snap.000.hdf5, snap.001.hdf5, ....
std::vector<std::string> part_names(const hdf5::Reader& file) {
  const auto files =
      file.has("Header") ? file.integer_attribute("Header", "NumFilesPerSnapshot") : std::nullopt;
  if (!files || *files <= 1) return {file.name()};
  const fs::path path(file.name());
  const std::string base = path.filename().string();
  static const std::regex pattern(R"((.*\.)(\d{1,9})(\.[^.]+)?)");
  std::smatch match;
  if (!std::regex_match(base, match, pattern) || std::stoll(match[2]) >= *files)
    file.fail("Header/NumFilesPerSnapshot",
              fmt::format("this is one of {} files of a snapshot; the name of the file must have "
                          "the form snapshot.0.hdf5, with a number from 0 to {}",
                          *files, *files - 1));
  const std::string digits = match[2];
  const auto name = [&](std::int64_t k, std::size_t width) {
    return (path.parent_path() /
            fmt::format("{}{:0{}}{}", match[1].str(), k, width, match[3].str()))
        .string();
  };
  // Numbers of two or more digits may be filled with zeros.
  const bool filled = digits.size() > 1 && (digits[0] == '0' || !fs::exists(name(0, 1)));
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < *files; ++k) {
    names.push_back(name(k, filled ? digits.size() : 1));
    if (!fs::exists(names.back()))
      throw Error(ErrorCategory::Io,
                  fmt::format("{}: one of {} files of a snapshot; '{}' is missing", file.name(),
                              *files, names.back()));
  }
  return names;
}

/// The numbers of an attribute of the header, as text.
std::string text_of(const hdf5::Reader& file, const std::string& name) {
  const auto values = file.has("Header") ? file.attribute("Header", name) : std::nullopt;
  return values ? fmt::format("{}", fmt::join(*values, ", ")) : "missing";
}

void check_same_snapshot(const hdf5::Reader& first, const hdf5::Reader& other) {
  for (const char* name : common_header) {
    const std::string there = text_of(first, name), here = text_of(other, name);
    if (here != there)
      other.fail(fmt::format("Header/{}", name),
                 fmt::format("is {}, but {} in '{}': they are files of different snapshots", here,
                             there, first.name()));
  }
}

/// The numbers of particles in the header must be those of all files together.
void check_total(const std::vector<SnapshotPart>& parts) {
  const hdf5::Reader& first = parts.front().file;
  const PerType low = per_type(first, "NumPart_Total"),
                high = per_type(first, "NumPart_Total_HighWord");
  const std::vector<std::size_t> found = total_counts(parts);
  for (std::size_t type = 0; low.given && type < max_particle_types; ++type) {
    const double expected = low[type] + 4294967296.0 * high[type];
    const double have = type < found.size() ? static_cast<double>(found[type]) : 0;
    if (expected != have)
      first.fail("Header/NumPart_Total",
                 fmt::format("gives {} particles of type {}, but its files have {}", expected, type,
                             have));
  }
}

}  // namespace

std::string group_name(std::size_t type) { return fmt::format("PartType{}", type); }

PerType per_type(const hdf5::Reader& file, const std::string& name) {
  if (!file.has("Header")) return {};
  auto values = file.attribute("Header", name);
  return values ? PerType{true, std::move(*values)} : PerType{};
}

std::vector<SnapshotPart> open_parts(const std::string& path) {
  std::vector<SnapshotPart> parts;
  hdf5::Reader given(path);
  const std::vector<std::string> names = part_names(given);
  if (names.size() == 1) {
    std::vector<std::size_t> counts = count_particles(given);
    parts.push_back({std::move(given), std::move(counts)});
    return parts;
  }
  for (const std::string& name : names) {
    hdf5::Reader file(name);
    if (!parts.empty()) check_same_snapshot(parts.front().file, file);
    std::vector<std::size_t> counts = count_particles(file);
    parts.push_back({std::move(file), std::move(counts)});
  }
  check_total(parts);
  return parts;
}

std::vector<std::size_t> total_counts(const std::vector<SnapshotPart>& parts) {
  std::vector<std::size_t> counts(max_particle_types, 0);
  for (const SnapshotPart& part : parts)
    for (std::size_t type = 0; type < part.counts.size(); ++type) counts[type] += part.counts[type];
  while (counts.size() > usual_particle_types && counts.back() == 0) counts.pop_back();
  return counts;
}

}  // namespace gdr
