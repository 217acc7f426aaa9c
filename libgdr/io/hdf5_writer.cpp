// Building HDF5 files in memory.
#include <fmt/format.h>

#include <algorithm>

#include "gdr/error.hpp"
#include "libgdr/io/hdf5.hpp"

namespace gdr::hdf5 {
namespace {

/// Only memory can be exhausted here.
[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCategory::Io,
              fmt::format("cannot build the HDF5 file: {} ({})", what, last_failure()));
}

Handle checked(hid_t id, Handle::Close close, const std::string& what) {
  Handle handle(id, close);
  if (!handle) fail(what);
  return handle;
}

}  // namespace

Writer::Writer() {
  silence();
  const Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "properties");
  constexpr std::size_t growth = std::size_t{1} << 20;
  constexpr hbool_t backing_store = 0;
  if (H5Pset_fapl_core(access.get(), growth, backing_store) < 0) fail("memory file");
  file_ = checked(H5Fcreate("gdr-in-memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                  "memory file");
}

void Writer::group(const std::string& path) {
  // Time stamps would make equal states unequal files.
  const Handle properties = checked(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, path);
  H5Pset_obj_track_times(properties.get(), false);
  checked(H5Gcreate2(file_.get(), path.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
          H5Gclose, path);
}

void Writer::put(const std::string& dataset, std::span<const hsize_t> shape, hid_t type,
                 const void* values) {
  const Handle properties = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, dataset);
  H5Pset_obj_track_times(properties.get(), false);
  const Handle space = checked(
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, dataset);
  Handle handle = checked(H5Dcreate2(file_.get(), dataset.c_str(), type, space.get(), H5P_DEFAULT,
                                     properties.get(), H5P_DEFAULT),
                          H5Dclose, dataset);
  if (H5Dwrite(handle.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail(dataset);
  if (!handle.reset()) fail(dataset);
}

void Writer::doubles(const std::string& dataset, std::span<const hsize_t> shape,
                     std::span<const double> values) {
  put(dataset, shape, H5T_NATIVE_DOUBLE, values.data());
}

void Writer::integers(const std::string& dataset, std::span<const hsize_t> shape,
                      std::span<const std::uint64_t> values, bool is_signed) {
  put(dataset, shape, is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, values.data());
}

void Writer::put_attribute(const std::string& object, const std::string& name, hid_t file_type,
                           hid_t memory_type, const void* values, std::optional<hsize_t> count) {
  const std::string what = object + "/" + name;
  const Handle space = checked(
      count ? H5Screate_simple(1, &*count, nullptr) : H5Screate(H5S_SCALAR), H5Sclose, what);
  const Handle handle =
      checked(H5Acreate_by_name(file_.get(), object.c_str(), name.c_str(), file_type, space.get(),
                                H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              H5Aclose, what);
  if (H5Awrite(handle.get(), memory_type, values) < 0) fail(what);
}

void Writer::attribute(const std::string& object, const std::string& name, double value) {
  put_attribute(object, name, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, &value, {});
}

void Writer::attribute(const std::string& object, const std::string& name,
                       const std::string& value) {
  const Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, name);
  if (H5Tset_size(type.get(), std::max<std::size_t>(value.size(), 1)) < 0) fail(name);
  put_attribute(object, name, type.get(), type.get(), value.c_str(), {});
}

void Writer::attribute(const std::string& object, const std::string& name,
                       const std::vector<double>& values) {
  put_attribute(object, name, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, values.data(), values.size());
}

void Writer::attribute(const std::string& object, const std::string& name, hid_t file_type,
                       std::int64_t value) {
  put_attribute(object, name, file_type, H5T_NATIVE_INT64, &value, {});
}

void Writer::attribute(const std::string& object, const std::string& name, hid_t file_type,
                       const std::vector<std::int64_t>& values) {
  put_attribute(object, name, file_type, H5T_NATIVE_INT64, values.data(), values.size());
}

std::string Writer::finish() {
  if (H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0) fail("flush");
  const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
  if (size < 0) fail("size");
  std::string image(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(file_.get(), image.data(), image.size()) != size) fail("image");
  if (!file_.reset()) fail("close");
  return image;
}

}  // namespace gdr::hdf5
