// Building HDF5 files in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgdr/io/hdf5_handle.hpp"

namespace gdr::hdf5 {

/// A file that is built in memory. The caller writes the image as a whole, so that a full disk
/// never causes errors in the HDF5 library and no partial file is visible. Equal calls give equal
/// bytes (no time stamps).
class Writer {
 public:
  Writer();
  void group(const std::string& path);
  void doubles(const std::string& dataset, std::span<const hsize_t> shape,
               std::span<const double> values);
  void integers(const std::string& dataset, std::span<const hsize_t> shape,
                std::span<const std::uint64_t> values, bool is_signed);
  void integers(const std::string& dataset, std::span<const std::uint64_t> values, bool is_signed);
  /// Attributes of a group, or of the file for "/". One value makes a scalar if `scalar`.
  void attribute(const std::string& object, const std::string& name, std::span<const double> values,
                 bool scalar);
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void integer_attribute(const std::string& object, const std::string& name, hid_t file_type,
                         std::span<const std::int64_t> values, bool scalar);
  /// Close the file and return its bytes.
  std::vector<char> finish();

 private:
  void put(const std::string& dataset, std::span<const hsize_t> shape, hid_t type,
           const void* values);
  void put_attribute(const std::string& object, const std::string& name, hid_t file_type,
                     hid_t memory_type, const void* values, hsize_t count, bool scalar);
  Handle file_;
};

}  // namespace gdr::hdf5
