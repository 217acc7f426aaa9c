// HDF5 files as other codes write them, made with the C library only.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

namespace gdr::test {

/// Numbers are given as doubles or 64-bit integers and stored in the type that is asked for.
class ForeignFile {
 public:
  /// `user_block`: bytes that the HDF5 library leaves free at the beginning of the file.
  explicit ForeignFile(const std::string& path, hsize_t user_block = 0) {
    const hid_t properties = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(properties, user_block);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
    H5Pclose(properties);
  }
  ~ForeignFile() { H5Fclose(file_); }
  ForeignFile(const ForeignFile&) = delete;
  ForeignFile& operator=(const ForeignFile&) = delete;

  void group(const std::string& name) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  void doubles(const std::string& name, const std::vector<hsize_t>& shape,
               const std::vector<double>& values, hid_t type = H5T_IEEE_F64LE,
               bool packed = false) {
    dataset(name, shape, type, H5T_NATIVE_DOUBLE, values.data(), packed);
  }
  void ids(const std::string& name, const std::vector<long long>& values, hid_t type) {
    dataset(name, {values.size()}, type, H5T_NATIVE_LLONG, values.data(), false);
  }
  void raw_ids(const std::string& name, const std::vector<unsigned long long>& values, hid_t type) {
    dataset(name, {values.size()}, type, H5T_NATIVE_ULLONG, values.data(), false);
  }
  void attribute(const std::string& object, const std::string& name,
                 const std::vector<double>& values, hid_t type) {
    const hsize_t count = values.size();
    const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
    const hid_t handle = H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space,
                                           H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(handle, H5T_NATIVE_DOUBLE, values.data());
    H5Aclose(handle);
    H5Sclose(space);
  }
  /// A link to a name inside the file, which need not exist.
  void link(const std::string& name, const std::string& target) {
    H5Lcreate_soft(target.c_str(), file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  }
  /// A dataset without a shape, h5py's Empty.
  void null(const std::string& name, hid_t type = H5T_IEEE_F64LE) {
    const hid_t space = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  }
  void null_attribute(const std::string& object, const std::string& name) {
    const hid_t space = H5Screate(H5S_NULL);
    H5Aclose(H5Acreate_by_name(file_, object.c_str(), name.c_str(), H5T_IEEE_F64LE, space,
                               H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  }
  /// A dataset of text instead of numbers.
  void text(const std::string& name, const std::string& value) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, value.size());
    dataset(name, {1, 3}, type, type, std::string(3 * value.size(), 'x').c_str(), false);
    H5Tclose(type);
  }
  /// A chunked dataset of a given shape, of which no chunk is stored.
  void claim(const std::string& name, const std::vector<hsize_t>& shape,
             const std::vector<hsize_t>& chunk, hid_t type = H5T_IEEE_F64LE) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
    create(name, shape, type, properties);
  }
  /// Numbers in one chunk that goes through a registered filter.
  void filtered(const std::string& name, const std::vector<double>& values, H5Z_filter_t filter) {
    const hsize_t count = values.size();
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &count);
    H5Pset_filter(properties, filter, 0, 0, nullptr);
    create(name, {count}, H5T_IEEE_F64LE, properties);
    const hid_t handle = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    H5Dwrite(handle, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(handle);
  }
  /// A dataset that is created but not written.
  void unwritten(const std::string& name, const std::vector<hsize_t>& shape) {
    create(name, shape, H5T_IEEE_F64LE, H5Pcreate(H5P_DATASET_CREATE));
  }
  /// A virtual dataset, mapped to a dataset of the same shape in another file.
  void virtual_doubles(const std::string& name, const std::vector<hsize_t>& shape,
                       const std::string& source_file, const std::string& source) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t all = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    H5Pset_virtual(properties, all, source_file.c_str(), source.c_str(), all);
    H5Sclose(all);
    create(name, shape, H5T_IEEE_F64LE, properties);
  }
  /// A virtual dataset with rows from all files of a series: SOURCE_FILE contains "%b".
  void virtual_series(const std::string& name, const std::string& source_file,
                      const std::string& source) {
    const hsize_t none[2] = {0, 3}, most[2] = {H5S_UNLIMITED, 3}, rows[2] = {2, 3};
    const hsize_t start[2] = {0, 0}, count[2] = {H5S_UNLIMITED, 1};
    const hid_t all = H5Screate_simple(2, none, most), part = H5Screate_simple(2, rows, nullptr);
    H5Sselect_hyperslab(all, H5S_SELECT_SET, start, rows, count, rows);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(properties, all, source_file.c_str(), source.c_str(), part);
    H5Sclose(part);
    H5Dclose(
        H5Dcreate2(file_, name.c_str(), H5T_IEEE_F64LE, all, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Sclose(all);
    H5Pclose(properties);
  }
  /// A dataset whose bytes are in another file.
  void external_doubles(const std::string& name, const std::vector<hsize_t>& shape,
                        const std::string& raw_file) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(properties, raw_file.c_str(), 0, H5F_UNLIMITED);
    create(name, shape, H5T_IEEE_F64LE, properties);
  }

 private:
  /// Creates a dataset and closes `properties`.
  void create(const std::string& name, const std::vector<hsize_t>& shape, hid_t type,
              hid_t properties) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    H5Dclose(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(properties);
  }
  void dataset(const std::string& name, const std::vector<hsize_t>& shape, hid_t file_type,
               hid_t memory_type, const void* values, bool packed) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (packed) {
      H5Pset_chunk(properties, static_cast<int>(shape.size()), shape.data());
      H5Pset_deflate(properties, 6);
    }
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t handle =
        H5Dcreate2(file_, name.c_str(), file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Dwrite(handle, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(handle);
    H5Sclose(space);
    H5Pclose(properties);
  }

  hid_t file_;
};

}  // namespace gdr::test
