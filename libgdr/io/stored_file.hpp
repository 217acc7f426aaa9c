// A file of datasets and attributes in groups, as HDF5 has them: what the reader of snapshots needs
// of it. The command implements it with the HDF5 library (hdf5.hpp), the Python package with h5py
// (python/src/snapshot.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gdr {

/// Class of the numbers of a dataset or an attribute.
enum class NumberClass { Float, Signed, Unsigned, Other };

/// A file open for reading. Paths inside it have no leading slash: "PartType1/Coordinates".
/// Failures are errors with the file and the place.
class StoredFile {
 public:
  using Shape = std::vector<std::size_t>;

  explicit StoredFile(std::string name) : name_(std::move(name)) {}
  virtual ~StoredFile() = default;
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// Whether there is a group or a dataset of this name, or a link, even to nothing.
  virtual bool has(const std::string& path) const = 0;
  /// (0) for a dataset without a shape.
  virtual Shape shape(const std::string& dataset) const = 0;
  virtual NumberClass number_class(const std::string& dataset) const = 0;
  /// Throws unless a dataset holds numbers that can be read completely: parts that are missing
  /// would be read as zeros. Reads no data.
  virtual void check(const std::string& dataset) const = 0;
  /// All values of a dataset, in row-major order, converted from its type (of either byte order).
  /// The caller gives room for all of them, and has called `check`.
  virtual void read(const std::string& dataset, std::span<double> to) const = 0;
  /// The same of integers: bit patterns, of signed numbers if `as_signed`.
  virtual void read(const std::string& dataset, std::span<std::uint64_t> to,
                    bool as_signed) const = 0;
  /// All values of a numerical attribute; nothing if it or the object does not exist, or if it
  /// holds no values. Throws for other types.
  virtual std::optional<std::vector<double>> attribute(const std::string& object,
                                                       const std::string& name) const = 0;

  /// All values of a dataset, after `check`.
  std::vector<double> doubles(const std::string& dataset) const;
  std::vector<std::uint64_t> integers(const std::string& dataset, bool as_signed) const;
  /// The first value of an attribute. Throws unless it is an integer, which may be stored as a
  /// float.
  std::optional<std::int64_t> integer_attribute(const std::string& object,
                                                const std::string& name) const;
  /// Throws Error (Input): "FILE: WHERE WHAT".
  [[noreturn]] void fail(const std::string& where, const std::string& what) const;

 private:
  std::string name_;
};

/// Opens a file. Throws Error (Io or Input) for one that is missing, damaged, or of another format.
using OpenStoredFile = std::function<std::unique_ptr<StoredFile>(const std::string& name)>;

/// Number of elements of a shape, saturated at the largest number.
std::size_t element_count(std::span<const std::size_t> shape) noexcept;

/// Whether the content of a file begins as HDF5 does, or has such a beginning behind bytes for
/// other programs: at byte 512, 1024, 2048, .... Pipes, which can be read only once, are never
/// HDF5. Throws Error (Io) if the file cannot be read.
bool is_hdf5(const std::string& file);

}  // namespace gdr
