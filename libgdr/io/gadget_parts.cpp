#include "libgdr/io/gadget_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

/// What files of one snapshot have in common, in the header.
constexpr const char* common_header[] = {
    "NumFilesPerSnapshot", "Time", "Redshift", "BoxSize", "NumPart_Total", "NumPart_Total_HighWord",
};

/// Particles of a type, by its Coordinates, of shape (n, 3); a dataset without numbers, of any
/// shape or none, has none.
std::size_t count_by_coordinates(const StoredFile& file, std::size_t type) {
  const std::string dataset = group_name(type) + "/Coordinates";
  if (!file.has(dataset)) file.fail(group_name(type), "has no dataset Coordinates, shape (n, 3)");
  const auto shape = file.shape(dataset);
  if (element_count(shape) == 0) return 0;
  if (shape.size() != 2 || shape[1] != 3)
    file.fail(dataset, fmt::format("has shape ({}); expected (n, 3)", fmt::join(shape, ", ")));
  return shape[0];
}

/// Some codes write groups without particles, with nothing in them.
bool has_nothing(const StoredFile& file, const std::string& group) {
  return !file.has(group + "/Velocities") && !file.has(group + "/Masses") &&
         !file.has(group + "/ParticleIDs");
}

/// The name of a file of a snapshot: STEM NUMBER END, of which END is empty or ".hdf5".
struct NumberedName {
  std::string stem, digits, end;

  std::string with(std::int64_t number, std::size_t width) const {
    return fmt::format("{}{:0{}}{}", stem, number, width, end);
  }
};

/// The parts of a name such as snap.3.hdf5 or snap.003; no digits if it has no number behind a dot.
NumberedName parse_name(const std::string& path) {
  const auto number_before = [&](std::size_t end) -> NumberedName {
    const std::size_t begin = path.find_last_not_of("0123456789", end - 1) + 1;
    const bool numbered = begin > 0 && path[begin - 1] == '.' && end > begin && end - begin < 10;
    if (!numbered) return {};
    return {path.substr(0, begin), path.substr(begin, end - begin), path.substr(end)};
  };
  // The number is the last part of the name, or the one before.
  const NumberedName last = number_before(path.size());
  if (!last.digits.empty()) return last;
  const std::size_t dot = path.find_last_of("./");
  const bool has_end = dot != path.npos && dot > 0 && path[dot] == '.' && dot + 1 < path.size();
  return has_end ? number_before(dot) : NumberedName{};
}

/// Names of the files of a snapshot: of `snap.3.hdf5` snap.0.hdf5, snap.1.hdf5, ..., of
/// `snap.003.hdf5` snap.000.hdf5, snap.001.hdf5, ....
std::vector<std::string> part_names(const StoredFile& file) {
  const std::int64_t files = file.integer_attribute("Header", "NumFilesPerSnapshot").value_or(1);
  if (files <= 1) return {file.name()};
  const NumberedName name = parse_name(file.name());
  const auto number = parse_all<std::int64_t>(name.digits);
  if (!number || *number >= files)
    file.fail("Header/NumFilesPerSnapshot:",
              fmt::format("this is one of {} files of a snapshot; the name of the file must have "
                          "the form snapshot.0.hdf5, with a number from 0 to {}",
                          files, files - 1));
  const auto exists = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  // Numbers of two or more digits may be filled with zeros.
  const bool filled = name.digits.size() > 1 && (name.digits[0] == '0' || !exists(name.with(0, 1)));
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < files; ++k) {
    names.push_back(name.with(k, filled ? name.digits.size() : 1));
    if (!exists(names.back()))
      throw Error(ErrorCategory::Io,
                  fmt::format("{}: one of {} files of a snapshot; '{}' is missing", file.name(),
                              files, names.back()));
  }
  return names;
}

/// The numbers of an attribute of the header, as text.
std::string text_of(const StoredFile& file, const std::string& name) {
  const auto values = file.attribute("Header", name);
  return values ? fmt::format("{}", fmt::join(*values, ", ")) : "missing";
}

}  // namespace

std::string group_name(std::size_t type) { return fmt::format("PartType{}", type); }

PerType per_type(const StoredFile& file, const std::string& name) {
  auto values = file.attribute("Header", name);
  return values ? PerType{true, std::move(*values)} : PerType{};
}

SnapshotFiles::SnapshotFiles(const std::string& path, const OpenStoredFile& open)
    : open_(open), first_(open(path)) {
  names_ = part_names(*first_);
  if (names_.front() != path) first_ = open_(names_.front());
}

const StoredFile& SnapshotFiles::open(std::size_t index) {
  if (index == 0) return *first_;
  current_.reset();
  current_ = open_(names_.at(index));
  return *current_;
}

std::vector<std::size_t> count_particles(const StoredFile& file, const ParticleTypes& omitted) {
  const PerType in_header = per_type(file, "NumPart_ThisFile");
  std::vector<std::size_t> counts;
  for (std::size_t type = 0; type < max_particle_types; ++type) {
    if (omitted[type]) {
      counts.push_back(0);
      continue;
    }
    const std::string group = group_name(type);
    const double expected = in_header[type];
    std::size_t found = 0;
    if (file.has(group)) {
      const bool empty = !file.has(group + "/Coordinates") &&
                         (in_header.given ? expected == 0 : has_nothing(file, group));
      found = empty ? 0 : count_by_coordinates(file, type);
    }
    if (in_header.given && static_cast<double>(found) != expected)
      file.fail("Header/NumPart_ThisFile",
                fmt::format("gives {} particles of type {}, but {} has {}", expected, type, group,
                            found));
    counts.push_back(found);
  }
  return counts;
}

void check_same_snapshot(const StoredFile& first, const StoredFile& other) {
  for (const char* name : common_header) {
    const std::string there = text_of(first, name), here = text_of(other, name);
    if (here != there)
      other.fail(fmt::format("Header/{}", name),
                 fmt::format("is {}, but {} in '{}': they are files of different snapshots", here,
                             there, first.name()));
  }
}

void check_total(const StoredFile& first, const std::vector<std::size_t>& counts,
                 const ParticleTypes& omitted) {
  const PerType low = per_type(first, "NumPart_Total"),
                high = per_type(first, "NumPart_Total_HighWord");
  for (std::size_t type = 0; low.given && type < max_particle_types; ++type) {
    if (omitted[type]) continue;
    const double expected = low[type] + 4294967296.0 * high[type];
    const std::size_t have = type < counts.size() ? counts[type] : 0;
    if (expected != static_cast<double>(have))
      first.fail("Header/NumPart_Total",
                 fmt::format("gives {} particles of type {}, but its files have {}", expected, type,
                             have));
  }
}

}  // namespace gdr
