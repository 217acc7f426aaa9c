#include "libgdr/io/hdf5_checks.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

namespace gdr::hdf5 {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t endless = std::numeric_limits<hsize_t>::max();
/// Virtual datasets whose sources are virtual in turn.
constexpr int most_levels = 8;
/// What deflate packs at best is a thousandth; a small file may claim some megabytes in any case.
constexpr hsize_t best_packing = 1100, always_allowed = hsize_t{16} << 20;

bool multiply(hsize_t& product, hsize_t factor) noexcept {
  return !__builtin_mul_overflow(product, factor, &product);
}

/// A place of bits in a number: [begin, begin + size).
struct Bits {
  std::size_t begin, size;
  std::size_t end() const noexcept { return begin + size; }
  bool meets(const Bits& other) const noexcept {
    return begin < other.end() && other.begin < end();
  }
};

bool has_sound_fields(hid_t type, std::size_t precision) {
  std::size_t sign = 0;
  Bits exponent{}, mantissa{};
  if (H5Tget_fields(type, &sign, &exponent.begin, &exponent.size, &mantissa.begin, &mantissa.size) <
      0)
    return false;
  // The bias is below 2^size of a 64-bit number: the library shifts by the size.
  const bool sizes = exponent.size > 0 && exponent.size < 32 && mantissa.size > 0;
  const bool inside =
      std::max({exponent.begin, exponent.size, mantissa.begin, mantissa.size, sign}) <= precision &&
      sign < precision && exponent.end() <= precision && mantissa.end() <= precision;
  const Bits own{sign, 1};
  return sizes && inside && !exponent.meets(mantissa) && !own.meets(exponent) &&
         !own.meets(mantissa);
}

std::optional<std::string> first_that_exists(const std::vector<fs::path>& candidates) {
  std::error_code ignored;
  for (const fs::path& path : candidates)
    if (fs::is_regular_file(path, ignored)) return path.string();
  return {};
}

/// Where the HDF5 library looks for the source file of a virtual dataset: as it is named, then by
/// its last name where it was absolute, in the folders of HDF5_VDS_PREFIX and beside the file.
std::optional<std::string> find_source(const std::string& name, const std::string& from) {
  const fs::path path(name);
  const fs::path inside = path.is_absolute() ? path.filename() : path;
  std::vector<fs::path> candidates;
  if (path.is_absolute()) candidates.push_back(path);
  if (const char* prefixes = std::getenv("HDF5_VDS_PREFIX")) {
    const std::string all = prefixes;
    for (std::size_t begin = 0; begin <= all.size();) {
      const std::size_t end = std::min(all.find(':', begin), all.size());
      if (end > begin) candidates.push_back(fs::path(all.substr(begin, end - begin)) / inside);
      begin = end + 1;
    }
  }
  std::error_code ignored;
  candidates.push_back(fs::path(from).parent_path() / inside);
  candidates.push_back(inside);
  candidates.push_back(fs::canonical(from, ignored).parent_path() / inside);
  return first_that_exists(candidates);
}

std::string source_text(hid_t properties, std::size_t index,
                        ssize_t (*get)(hid_t, std::size_t, char*, std::size_t)) {
  const ssize_t length = get(properties, index, nullptr, 0);
  if (length < 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  get(properties, index, text.data(), text.size());
  text.pop_back();
  return text;
}

std::string defect_at_level(hid_t dataset, hsize_t count, const std::string& file_name,
                            std::size_t file_bytes, int level);

/// One source of a virtual dataset.
std::string source_defect(hid_t properties, std::size_t index, hid_t dataset,
                          const std::string& file_name, int level) {
  const std::string name = source_text(properties, index, H5Pget_virtual_filename);
  const std::string inside = source_text(properties, index, H5Pget_virtual_dsetname);
  const std::string where = fmt::format("'{}' in '{}'", inside, name);
  if (name.find('%') != std::string::npos || inside.find('%') != std::string::npos)
    return fmt::format("is made of parts with numbered names ({}), which are not read", where);
  const std::optional<std::string> path = name == "." ? file_name : find_source(name, file_name);
  if (!path) return fmt::format("is made of parts in other files, of which '{}' is missing", name);
  const Handle file(
      name == "." ? H5Iget_file_id(dataset) : H5Fopen(path->c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
      H5Fclose);
  const Handle source(file ? H5Dopen2(file.get(), inside.c_str(), H5P_DEFAULT) : -1, H5Dclose);
  if (!source) return fmt::format("is made of parts, of which {} cannot be opened", where);
  const Handle wanted(H5Pget_virtual_vspace(properties, index), H5Sclose);
  const Handle there(H5Dget_space(source.get()), H5Sclose);
  const hssize_t numbers = H5Sget_simple_extent_npoints(there.get());
  if (numbers < 0 || numbers < H5Sget_select_npoints(wanted.get()))
    return fmt::format("is made of parts, of which {} is too short", where);
  const Handle type(H5Dget_type(source.get()), H5Tclose);
  if (const std::string defect = type_defect(type.get()); !defect.empty())
    return fmt::format("is made of parts, of which {} {}", where, defect);
  std::error_code ignored;
  const auto bytes = fs::file_size(*path, ignored);
  const std::string defect = defect_at_level(source.get(), static_cast<hsize_t>(numbers), *path,
                                             ignored ? 0 : bytes, level + 1);
  return defect.empty() ? defect : fmt::format("is made of parts, of which {} {}", where, defect);
}

std::string virtual_defect(hid_t properties, hid_t dataset, hsize_t count,
                           const std::string& file_name, int level) {
  if (level >= most_levels) return "is made of parts that are made of parts, and so on";
  std::size_t parts = 0;
  if (H5Pget_virtual_count(properties, &parts) < 0) return "has no list of its parts";
  hsize_t covered = 0;
  bool unlimited = false;  // then the extent is what there is of the sources
  for (std::size_t i = 0; i < parts; ++i) {
    if (std::string defect = source_defect(properties, i, dataset, file_name, level);
        !defect.empty())
      return defect;
    const Handle space(H5Pget_virtual_vspace(properties, i), H5Sclose);
    const hssize_t points = H5Sget_select_npoints(space.get());
    unlimited = unlimited || points < 0;
    covered += points < 0 ? 0 : static_cast<hsize_t>(points);
  }
  if (!unlimited && covered < count)
    return fmt::format("is made of parts that hold {} of its {} numbers", covered, count);
  return {};
}

/// Where the HDF5 library looks for a file of raw data: in HDF5_EXTFILE_PREFIX, else as it is.
std::string raw_file(const std::string& name, const std::string& from) {
  const char* given = std::getenv("HDF5_EXTFILE_PREFIX");
  if (given == nullptr || *given == '\0' || fs::path(name).is_absolute()) return name;
  std::string prefix = given;
  constexpr std::string_view origin = "${ORIGIN}";
  if (prefix.starts_with(origin)) {
    std::error_code ignored;
    prefix = fs::absolute(from, ignored).parent_path().string() + prefix.substr(origin.size());
  }
  return (fs::path(prefix) / name).string();
}

/// Raw data in other files. `bytes` are wanted.
std::string external_defect(hid_t properties, int files, hsize_t bytes,
                            const std::string& file_name) {
  hsize_t there = 0;
  for (int i = 0; i < files; ++i) {
    std::string name(4096, '\0');
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(properties, static_cast<unsigned>(i), name.size(), name.data(), &offset,
                        &size) < 0)
      return "has no list of the files that it is stored in";
    name.resize(std::min(name.find('\0'), name.size()));
    struct stat status {};
    const bool found = ::stat(raw_file(name, file_name).c_str(), &status) == 0;
    if (!found || !S_ISREG(status.st_mode))
      return fmt::format("is stored in other files, of which '{}' is missing", name);
    const hsize_t have =
        status.st_size > offset && offset >= 0 ? static_cast<hsize_t>(status.st_size - offset) : 0;
    there += std::min(have, size);
    if (have < std::min(size, bytes) && there < bytes)
      return fmt::format("is stored in other files, of which '{}' is too short", name);
  }
  return there < bytes ? "is stored in other files, which are too short" : std::string();
}

/// A chunk is unpacked in memory as a whole, however few numbers of it are wanted.
std::string chunk_defect(hid_t properties, int rank, std::size_t size, hsize_t allowed) {
  std::vector<hsize_t> chunk(static_cast<std::size_t>(std::max(rank, 1)));
  if (H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data()) != rank)
    return "has chunks of another shape than its own";
  hsize_t bytes = element_count(chunk);
  if (bytes == 0 || !multiply(bytes, size) || bytes > allowed)
    return fmt::format("has chunks of ({}) numbers, more than the file can hold",
                       fmt::join(chunk, ", "));
  return {};
}

std::string defect_at_level(hid_t dataset, hsize_t count, const std::string& file_name,
                            std::size_t file_bytes, int level) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const std::size_t size = H5Tget_size(type.get());
  if (!properties || size == 0) return "has no layout";
  hsize_t bytes = count, allowed = file_bytes;
  if (!multiply(allowed, best_packing)) allowed = endless;
  allowed = std::max(allowed, always_allowed);
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  if (layout == H5D_VIRTUAL)
    return virtual_defect(properties.get(), dataset, count, file_name, level);
  const std::string too_many =
      fmt::format("has {} numbers, more than a file of {} bytes can hold", count, file_bytes);
  if (!multiply(bytes, size) || count > endless / 8) return too_many;
  const int external = H5Pget_external_count(properties.get());
  if (external > 0) return external_defect(properties.get(), external, bytes, file_name);
  if (layout == H5D_CHUNKED) {
    if (bytes > allowed) return too_many;
    return chunk_defect(properties.get(), H5Sget_simple_extent_ndims(space.get()), size, allowed);
  }
  if (bytes > file_bytes) return too_many;
  if (bytes > 0 && H5Dget_storage_size(dataset) < bytes)
    return fmt::format("has {} numbers, which were never written", count);
  return {};
}

}  // namespace

std::string type_defect(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) return "does not hold numbers";
  const std::size_t size = H5Tget_size(type);
  const std::size_t largest = kind == H5T_FLOAT ? 16 : 8;
  const H5T_order_t order = H5Tget_order(type);
  const bool usual =
      order == H5T_ORDER_LE || order == H5T_ORDER_BE || (order == H5T_ORDER_NONE && size == 1);
  const std::size_t precision = H5Tget_precision(type);
  const int offset = H5Tget_offset(type);
  const bool inside = size >= 1 && size <= largest && precision >= 1 && precision <= 8 * size &&
                      offset >= 0 && precision + static_cast<std::size_t>(offset) <= 8 * size;
  if (usual && inside && (kind == H5T_INTEGER || has_sound_fields(type, precision))) return {};
  return fmt::format("has a damaged type of number: {} bits from bit {} of {} bytes{}", precision,
                     offset, size,
                     !inside ? ""
                     : usual ? ", with impossible parts"
                             : " in an unknown order");
}

hsize_t element_count(const std::vector<hsize_t>& shape) noexcept {
  hsize_t count = 1;
  for (const hsize_t n : shape) {
    if (n == 0) return 0;
    if (!multiply(count, n)) count = endless;
  }
  return count;
}

std::string storage_defect(hid_t dataset, hsize_t count, const std::string& file_name,
                           std::size_t file_bytes) {
  return defect_at_level(dataset, count, file_name, file_bytes, 0);
}

}  // namespace gdr::hdf5
