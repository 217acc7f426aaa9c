// HDF5 files: identifiers that close themselves, reading with checks, and building files in memory.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

/// Class of the numbers of a dataset or an attribute.
enum class NumberClass { Float, Signed, Unsigned, Other };

/// Number of elements of a shape, saturated at the largest number.
hsize_t element_count(const std::vector<hsize_t>& shape) noexcept;

/// A file open for reading; failures are gdr::Error, naming file and dataset. Paths inside it have
/// no leading slash: "PartType1/Coordinates".
class Reader {
 public:
  /// Throws Error (Io or Input) for a file that is missing, no HDF5 file, or damaged.
  explicit Reader(const std::string& file);

  /// True if the content of the file is HDF5. Throws Error (Io) if it cannot be read.
  static bool recognises(const std::string& file);

  const std::string& name() const noexcept { return file_; }
  bool has(const std::string& path) const;
  /// (0) for a dataset without a shape (H5S_NULL).
  std::vector<hsize_t> shape(const std::string& dataset) const;
  NumberClass number_class(const std::string& dataset) const;
  /// Throws unless a dataset holds numbers that can be read safely and completely: of a valid type,
  /// no more than the file can hold, without parts in missing files. Reads no data. `doubles` and
  /// `integers` include this check.
  void check(const std::string& dataset) const;
  /// All values of a dataset, in row-major order, converted from its type (of either byte order).
  std::vector<double> doubles(const std::string& dataset) const;
  std::vector<std::uint64_t> integers(const std::string& dataset, bool as_signed) const;
  /// All values of a numerical attribute; nothing if it does not exist or holds no values. Throws
  /// for other types.
  std::optional<std::vector<double>> attribute(const std::string& object,
                                               const std::string& name) const;
  std::optional<std::int64_t> integer_attribute(const std::string& object,
                                                const std::string& name) const;
  /// Throws Error (Input): "FILE: WHERE: WHAT".
  [[noreturn]] void fail(const std::string& where, const std::string& what) const;

 private:
  Handle open_dataset(const std::string& dataset) const;
  template <typename T>
  std::vector<T> read(const std::string& dataset, hid_t memory_type) const;
  std::string file_;
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
