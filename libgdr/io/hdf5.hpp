// HDF5 files: identifiers that close themselves, reading with checks, and building files in memory.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libgdr/io/stored_file.hpp"

namespace gdr::hdf5 {

/// An HDF5 identifier that closes itself.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }
  /// Close now; false on failure.
  bool reset() noexcept {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Disable the HDF5 library's error messages in the calling thread.
void silence() noexcept;

/// The HDF5 library's description of its last failure.
std::string last_failure();

using gdr::NumberClass;

/// A file read with the HDF5 library.
class Reader : public StoredFile {
 public:
  /// Throws Error (Io or Input) for a file that is missing, no HDF5 file, or damaged.
  explicit Reader(const std::string& file);

  bool has(const std::string& path) const override;
  Shape shape(const std::string& dataset) const override;
  NumberClass number_class(const std::string& dataset) const override;
  /// The library trusts its files: this also rejects damaged types, and more numbers than the file
  /// can hold.
  void check(const std::string& dataset) const override;
  void read(const std::string& dataset, std::span<double> to) const override;
  void read(const std::string& dataset, std::span<std::uint64_t> to, bool as_signed) const override;
  std::optional<std::vector<double>> attribute(const std::string& object,
                                               const std::string& name) const override;

 private:
  Handle open_dataset(const std::string& dataset) const;
  void read_as(const std::string& dataset, hid_t memory_type, std::size_t count, void* to) const;
  std::size_t file_bytes_ = 0;
  Handle handle_;
};

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
  /// Attributes of a group, or of the file for "/": a scalar, or a list even of one value.
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void attribute(const std::string& object, const std::string& name,
                 const std::vector<double>& values);
  void attribute(const std::string& object, const std::string& name, hid_t file_type,
                 std::int64_t value);
  void attribute(const std::string& object, const std::string& name, hid_t file_type,
                 const std::vector<std::int64_t>& values);
  /// Close the file and return its bytes.
  std::string finish();

 private:
  void put(const std::string& dataset, std::span<const hsize_t> shape, hid_t type,
           const void* values);
  /// An attribute of `count` values, or a scalar for none.
  void put_attribute(const std::string& object, const std::string& name, hid_t file_type,
                     hid_t memory_type, const void* values, std::optional<hsize_t> count);
  Handle file_;
};

}  // namespace gdr::hdf5
