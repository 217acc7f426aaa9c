#include "libgdr/io/hdf5_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/io/hdf5_checks.hpp"

namespace gdr::hdf5 {
namespace {

/// An attribute has a number for each type of particle, or a few more.
constexpr hssize_t most_in_attribute = 65536;

/// Whether the machine could hold so many numbers.
bool fits_in_memory(hsize_t values) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return true;
  return static_cast<double>(values) * 8 <
         static_cast<double>(pages) * static_cast<double>(page_bytes);
}

std::vector<hsize_t> shape_of(hid_t dataset) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  std::vector<hsize_t> sizes(
      static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space.get()), 0)));
  H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  return sizes;
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

bool Reader::recognises(const std::string& file) {
  // A pipe can be read once only: no format check before.
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return false;
  // The system, not HDF5, reports why a file cannot be opened.
  const int probe = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  char first = 0;
  const ssize_t got = probe < 0 ? -1 : ::read(probe, &first, 1);
  const int reason = errno;
  if (probe >= 0) ::close(probe);
  if (got < 0) throw Error(ErrorCategory::Io, io_message("read", file, reason));
  silence();
  return H5Fis_hdf5(file.c_str()) > 0;
}

Reader::Reader(const std::string& file) : file_(file) {
  if (!recognises(file))
    throw Error(ErrorCategory::Input, fmt::format("'{}' is not an HDF5 file", file));
  handle_ = Handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!handle_)
    throw Error(ErrorCategory::Input,
                fmt::format("'{}' is a damaged HDF5 file, or one cut short ({}); fetch it again",
                            file, last_failure()));
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  if (!unknown) file_bytes_ = bytes;
}

void Reader::fail(const std::string& where, const std::string& what) const {
  throw Error(ErrorCategory::Input, fmt::format("{}: {}: {}", file_, where, what));
}

bool Reader::has(const std::string& path) const {
  // H5Lexists requires every group on the path to exist.
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    if (H5Lexists(handle_.get(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Lexists(handle_.get(), path.c_str(), H5P_DEFAULT) > 0 &&
         H5Oexists_by_name(handle_.get(), path.c_str(), H5P_DEFAULT) > 0;
}

bool Reader::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

Handle Reader::open_dataset(const std::string& dataset) const {
  Handle handle(H5Dopen2(handle_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!handle) fail(dataset, fmt::format("cannot be opened as a dataset ({})", last_failure()));
  return handle;
}

std::vector<hsize_t> Reader::shape(const std::string& dataset) const {
  const Handle handle = open_dataset(dataset);
  const Handle space(H5Dget_space(handle.get()), H5Sclose);
  const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
  if (kind != H5S_SIMPLE && kind != H5S_SCALAR) fail(dataset, "has no shape");
  return shape_of(handle.get());
}

void Reader::check(const std::string& dataset) const {
  const Handle handle = open_dataset(dataset);
  const Handle type(H5Dget_type(handle.get()), H5Tclose);
  if (const std::string defect = type_defect(type.get()); !defect.empty()) fail(dataset, defect);
  const hsize_t count = element_count(shape(dataset));
  if (const std::string defect = storage_defect(handle.get(), count, file_, file_bytes_);
      !defect.empty())
    fail(dataset, defect);
  if (!fits_in_memory(count))
    fail(dataset, fmt::format("{} numbers are more than this machine can hold", count));
}

NumberClass Reader::number_class(const std::string& dataset) const {
  const Handle handle = open_dataset(dataset);
  const Handle type(H5Dget_type(handle.get()), H5Tclose);
  return class_of(type.get());
}

template <typename T>
std::vector<T> Reader::read(const std::string& dataset, hid_t memory_type) const {
  check(dataset);
  const Handle handle = open_dataset(dataset);
  std::vector<T> values(element_count(shape_of(handle.get())));
  if (!values.empty() &&
      H5Dread(handle.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail(dataset, fmt::format("cannot be read ({}): damaged, or packed by a filter that this HDF5 "
                              "library lacks; repack it with h5repack -f NONE",
                              last_failure()));
  return values;
}

std::vector<double> Reader::doubles(const std::string& dataset) const {
  return read<double>(dataset, H5T_NATIVE_DOUBLE);
}

std::vector<std::uint64_t> Reader::integers(const std::string& dataset, bool as_signed) const {
  const NumberClass kind = number_class(dataset);
  if (kind != NumberClass::Signed && kind != NumberClass::Unsigned)
    fail(dataset, "does not hold integers");
  return read<std::uint64_t>(dataset, as_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64);
}

std::optional<std::vector<double>> Reader::attribute(const std::string& object,
                                                     const std::string& name) const {
  if (!has_attribute(object, name)) return {};
  const std::string where = object + "/" + name;
  const Handle handle(
      H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const Handle type(H5Aget_type(handle.get()), H5Tclose);
  const Handle space(H5Aget_space(handle.get()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (class_of(type.get()) == NumberClass::Other || count < 1)
    fail(where, "does not hold a number");
  if (const std::string defect = type_defect(type.get()); !defect.empty()) fail(where, defect);
  if (count > most_in_attribute)
    fail(where, fmt::format("has {} numbers; it is damaged, or no attribute of a snapshot", count));
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(handle.get(), H5T_NATIVE_DOUBLE, values.data()) < 0)
    fail(where, fmt::format("cannot be read ({})", last_failure()));
  return values;
}

std::optional<std::int64_t> Reader::integer_attribute(const std::string& object,
                                                      const std::string& name) const {
  const auto values = attribute(object, name);
  if (!values) return {};
  const double value = values->front();
  // Integers up to 2^53 are exact in a double, which suffices for steps and files.
  if (!(value >= -9007199254740992.0 && value <= 9007199254740992.0))
    fail(object + "/" + name, fmt::format("{} is out of range", value));
  return static_cast<std::int64_t>(value);
}

}  // namespace gdr::hdf5
