// Reading HDF5 files, with checks of datasets and types before they are read. The HDF5 library
// trusts its files: a datatype whose bits lie beyond its size makes the conversion write beyond its
// buffers, chunks may claim gigabytes, and parts that are not stored are read as zeros.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <ranges>
#include <string_view>

#include "gdr/error.hpp"
#include "libgdr/io/hdf5.hpp"

namespace gdr::hdf5 {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t endless = std::numeric_limits<hsize_t>::max();
/// Virtual datasets whose sources are virtual in turn.
constexpr int max_levels = 8;
/// What deflate packs at best is a thousandth; a small file may claim some megabytes in any case.
constexpr hsize_t best_packing = 1100, always_allowed = hsize_t{16} << 20;

bool multiply(hsize_t& product, hsize_t factor) noexcept {
  return !__builtin_mul_overflow(product, factor, &product);
}

hsize_t numbers_in(const std::vector<hsize_t>& shape) noexcept {
  return element_count(StoredFile::Shape(shape.begin(), shape.end()));
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

/// Why a type is no number that the library converts safely; empty if it is safe. Checks class,
/// size, byte order, precision and offset, and of floats the fields of sign, exponent and mantissa.
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

/// Where the HDF5 library looks for the source file of a virtual dataset: as it is named, then by
/// its last name where it was absolute, in the folders of HDF5_VDS_PREFIX and beside the file.
std::optional<std::string> find_source(const std::string& name, const std::string& from) {
  const fs::path path(name);
  const fs::path inside = path.is_absolute() ? path.filename() : path;
  std::vector<fs::path> candidates;
  if (path.is_absolute()) candidates.push_back(path);
  if (const char* prefixes = std::getenv("HDF5_VDS_PREFIX")) {
    for (const auto prefix : std::views::split(std::string_view(prefixes), ':'))
      if (!prefix.empty()) candidates.push_back(fs::path(prefix.begin(), prefix.end()) / inside);
  }
  std::error_code ignored;
  candidates.push_back(fs::path(from).parent_path() / inside);
  candidates.push_back(inside);
  candidates.push_back(fs::canonical(from, ignored).parent_path() / inside);
  const auto found = std::ranges::find_if(
      candidates, [&](const fs::path& p) { return fs::is_regular_file(p, ignored); });
  return found == candidates.end() ? std::nullopt : std::optional(found->string());
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

/// Why a dataset of `count` numbers in the file `file_name` of `file_bytes` cannot be complete;
/// empty if no defect is found. Defects are a size far beyond what the file could hold even
/// compressed, and parts in other files (of virtual datasets and of external storage) that are
/// missing or too short, for which the library would read zeros. `level` counts virtual datasets.
std::string storage_defect(hid_t dataset, hsize_t count, const std::string& file_name,
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
  const std::string defect = storage_defect(source.get(), static_cast<hsize_t>(numbers), *path,
                                            ignored ? 0 : bytes, level + 1);
  return defect.empty() ? defect : fmt::format("is made of parts, of which {} {}", where, defect);
}

std::string virtual_defect(hid_t properties, hid_t dataset, hsize_t count,
                           const std::string& file_name, int level) {
  if (level >= max_levels) return "is made of parts that are made of parts, and so on";
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
  hsize_t bytes = numbers_in(chunk);
  if (bytes == 0 || !multiply(bytes, size) || bytes > allowed)
    return fmt::format("has chunks of ({}) numbers, more than the file can hold",
                       fmt::join(chunk, ", "));
  return {};
}

/// Chunks that were never written would be read as zeros.
std::string unwritten_defect(hid_t dataset, hid_t properties, hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> chunk(static_cast<std::size_t>(std::max(rank, 1))), shape(chunk);
  H5Pget_chunk(properties, rank, chunk.data());
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  for (std::size_t k = 0; k < chunk.size(); ++k) shape[k] = (shape[k] + chunk[k] - 1) / chunk[k];
  const hsize_t expected = numbers_in(shape);
  hsize_t written = 0;
  if (H5Dget_num_chunks(dataset, space, &written) < 0) return "has no list of its chunks";
  if (written >= expected) return {};
  return fmt::format("has {} chunks of numbers, of which {} were never written", expected,
                     expected - written);
}

/// The file name in a command of the shell; FILE if it would have to be quoted.
std::string in_command(const std::string& file) {
  const bool plain = std::ranges::all_of(file, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
  });
  return plain && !file.starts_with('-') ? file : "FILE";
}

/// How to unpack a file with a filter that the HDF5 library lacks. h5repack lacks it as well, loses
/// the dataset, and succeeds.
std::string unpacking(H5Z_filter_t filter, const std::string& file) {
  // Of h5py itself (LZF), and of the package hdf5plugin.
  constexpr H5Z_filter_t lzf = 32000;
  constexpr H5Z_filter_t plugins[] = {307,   32001, 32004, 32008, 32013, 32015,
                                      32017, 32018, 32024, 32026, 32028, 32033};
  const bool plugin = std::ranges::find(plugins, filter) != std::end(plugins);
  if (!plugin && filter != lzf)
    return "h5py and hdf5plugin lack it, too: ask the file's author for one that is packed by "
           "gzip, or name the folder of the filter's plugin in HDF5_PLUGIN_PATH";
  return fmt::format(
      "unpack the file with Python's h5py{0} and gdr: python3 -c \"import {1}gdr.nbody "
      "as n; n.write('unpacked.hdf5', n.read('{2}'))\"",
      plugin ? ", hdf5plugin" : "", plugin ? "hdf5plugin, " : "", in_command(file));
}

/// A filter that the HDF5 library lacks.
std::string filter_defect(hid_t properties, const std::string& file) {
  const int filters = H5Pget_nfilters(properties);
  for (int k = 0; k < filters; ++k) {
    unsigned flags = 0, configuration = 0;
    std::size_t parameters = 0;
    char name[64] = {};
    const H5Z_filter_t filter =
        H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &parameters, nullptr,
                       sizeof name - 1, name, &configuration);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    return fmt::format("is packed by filter {} ({}), which this HDF5 library lacks; {}", filter,
                       std::string_view(name).substr(0, std::string_view(name).find(';')),
                       unpacking(filter, file));
  }
  return {};
}

std::string storage_defect(hid_t dataset, hsize_t count, const std::string& file_name,
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
    std::string defect =
        chunk_defect(properties.get(), H5Sget_simple_extent_ndims(space.get()), size, allowed);
    if (defect.empty()) defect = unwritten_defect(dataset, properties.get(), space.get());
    return defect;
  }
  if (bytes > file_bytes) return too_many;
  if (bytes > 0 && H5Dget_storage_size(dataset) < bytes)
    return fmt::format("has {} numbers, which were never written", count);
  return {};
}

/// An attribute has a number for each type of particle, or a few more.
constexpr hssize_t max_in_attribute = 65536;

/// Whether the machine could hold so many numbers.
bool fits_in_memory(hsize_t values) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return true;
  return static_cast<double>(values) * 8 <
         static_cast<double>(pages) * static_cast<double>(page_bytes);
}

NumberClass class_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return NumberClass::Float;
    case H5T_INTEGER:
      return H5Tget_sign(type) == H5T_SGN_NONE ? NumberClass::Unsigned : NumberClass::Signed;
    default:
      return NumberClass::Other;
  }
}

}  // namespace

void silence() noexcept { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string last_failure() {
  std::string description;
  const auto keep = [](unsigned, const H5E_error2_t* entry, void* text) -> herr_t {
    // The walk goes from the call upward: the first entry is the origin of the error.
    auto& kept = *static_cast<std::string*>(text);
    if (kept.empty() && entry->desc != nullptr) kept = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &description);
  return description.empty() ? "unknown reason" : description;
}

Reader::Reader(const std::string& file) : StoredFile(file) {
  silence();
  if (!is_hdf5(file))
    throw Error(ErrorCategory::Input, fmt::format("'{}' is not an HDF5 file", file));
  handle_ = Handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const std::string why = handle_ ? std::string() : last_failure();
  if (why.find("lock file") != why.npos)
    throw Error(ErrorCategory::Io,
                fmt::format("'{}' is open in a program that writes it ({}); wait until that has "
                            "closed the file",
                            file, why));
  if (why.find("already open for write") != why.npos)
    throw Error(
        ErrorCategory::Io,
        fmt::format("'{}' is open in a program that writes it, or that program ended without "
                    "closing it; wait until it has closed the file, or, if it has ended, run "
                    "h5clear -s {} (of the package hdf5-tools)",
                    file, in_command(file)));
  if (!handle_)
    throw Error(
        ErrorCategory::Input,
        fmt::format("'{}' is a damaged HDF5 file, or one cut short ({}); fetch it again, or "
                    "wait for the program that writes it",
                    file, why));
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  if (!unknown) file_bytes_ = bytes;
}

bool Reader::has(const std::string& path) const {
  // H5Lexists requires every group on the path to exist.
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    if (H5Lexists(handle_.get(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) > 0;
}

Handle Reader::open_dataset(const std::string& dataset) const {
  if (has(dataset) && H5Oexists_by_name(handle_.get(), dataset.c_str(), H5P_DEFAULT) <= 0)
    fail(dataset, "is a link to something that does not exist");
  Handle handle(H5Dopen2(handle_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!handle) fail(dataset, fmt::format("cannot be opened as a dataset ({})", last_failure()));
  return handle;
}

StoredFile::Shape Reader::shape(const std::string& dataset) const {
  const Handle handle = open_dataset(dataset);
  const Handle space(H5Dget_space(handle.get()), H5Sclose);
  const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
  if (kind == H5S_NULL) return {0};
  if (kind != H5S_SIMPLE && kind != H5S_SCALAR) fail(dataset, "has no shape");
  std::vector<hsize_t> sizes(
      static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space.get()), 0)));
  H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  return {sizes.begin(), sizes.end()};
}

void Reader::check(const std::string& dataset) const {
  const Handle handle = open_dataset(dataset);
  const Handle type(H5Dget_type(handle.get()), H5Tclose);
  if (const std::string defect = type_defect(type.get()); !defect.empty()) fail(dataset, defect);
  const hsize_t count = element_count(shape(dataset));
  if (const std::string defect = storage_defect(handle.get(), count, name(), file_bytes_, 0);
      !defect.empty())
    fail(dataset, defect);
  if (!fits_in_memory(count))
    fail(dataset, fmt::format("holds {} numbers, more than this machine can hold", count));
}

NumberClass Reader::number_class(const std::string& dataset) const {
  const Handle handle = open_dataset(dataset);
  const Handle type(H5Dget_type(handle.get()), H5Tclose);
  return class_of(type.get());
}

void Reader::read_as(const std::string& dataset, hid_t memory_type, std::size_t count,
                     void* to) const {
  const Handle handle = open_dataset(dataset);
  const std::size_t stored = element_count(shape(dataset));
  if (stored != count) fail(dataset, fmt::format("has {} numbers; expected {}", stored, count));
  if (count == 0 || H5Dread(handle.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0)
    return;
  const std::string why = last_failure();
  const Handle properties(H5Dget_create_plist(handle.get()), H5Pclose);
  const std::string lacking = filter_defect(properties.get(), name());
  if (lacking.empty())
    fail(dataset, fmt::format("cannot be read ({}); it is damaged: fetch the file again", why));
  fail(dataset, lacking);
}

void Reader::read(const std::string& dataset, std::span<double> to) const {
  read_as(dataset, H5T_NATIVE_DOUBLE, to.size(), to.data());
}

void Reader::read(const std::string& dataset, std::span<std::uint64_t> to, bool as_signed) const {
  const NumberClass kind = number_class(dataset);
  if (kind != NumberClass::Signed && kind != NumberClass::Unsigned)
    fail(dataset, "does not hold integers");
  read_as(dataset, as_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, to.size(), to.data());
}

std::optional<std::vector<double>> Reader::attribute(const std::string& object,
                                                     const std::string& name) const {
  if (H5Aexists_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
  const std::string where = object + "/" + name;
  const Handle handle(
      H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const Handle type(H5Aget_type(handle.get()), H5Tclose);
  const Handle space(H5Aget_space(handle.get()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count == 0) return {};
  if (class_of(type.get()) == NumberClass::Other || count < 0)
    fail(where, "does not hold a number");
  if (const std::string defect = type_defect(type.get()); !defect.empty()) fail(where, defect);
  if (count > max_in_attribute)
    fail(where, fmt::format("has {} numbers; it is damaged, or no attribute of a snapshot", count));
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(handle.get(), H5T_NATIVE_DOUBLE, values.data()) < 0)
    fail(where, fmt::format("cannot be read ({})", last_failure()));
  return values;
}

}  // namespace gdr::hdf5
