// Reading HDF5 files; failures are gdr::Error, naming file and dataset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgdr/io/hdf5_handle.hpp"

namespace gdr::hdf5 {

/// Class of the numbers of a dataset or an attribute.
enum class NumberClass { Float, Signed, Unsigned, Other };

/// A file open for reading. Paths inside it have no leading slash: "PartType1/Coordinates".
class Reader {
 public:
  /// Throws Error (Io or Input) for a file that is missing, no HDF5 file, or damaged.
  explicit Reader(const std::string& file);

  /// True if the content of the file is HDF5. Throws Error (Io) if it cannot be read.
  static bool recognises(const std::string& file);

  bool has(const std::string& path) const;
  bool has_attribute(const std::string& object, const std::string& name) const;
  std::vector<hsize_t> shape(const std::string& dataset) const;
  NumberClass number_class(const std::string& dataset) const;
  /// Throws unless a dataset holds numbers that can be read safely and completely: of a valid type,
  /// no more than the file can hold, without parts in missing files. Reads no data. `doubles` and
  /// `integers` include this check.
  void check(const std::string& dataset) const;
  /// All values of a dataset, in row-major order, converted from its type (of either byte order).
  std::vector<double> doubles(const std::string& dataset) const;
  std::vector<std::uint64_t> integers(const std::string& dataset, bool as_signed) const;
  /// All values of a numerical attribute; nothing if it does not exist. Throws for other types.
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

}  // namespace gdr::hdf5
