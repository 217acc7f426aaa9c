#include "libgdr/io/packed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr {
namespace {

/// Bytes from the first of a dataset to behind its last.
std::uint64_t extent(const PackedDataset& dataset) {
  if (dataset.rows == 0) return 0;
  return (dataset.rows - 1) * dataset.stride + dataset.width * dataset.number_size;
}

/// Calls `take(index, bytes)` for every number of a dataset, in order.
template <typename Take>
void for_each_number(const ByteFile& file, const PackedDataset& dataset, Take&& take) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  const std::size_t rows_of_piece =
      std::max<std::size_t>(1, piece / static_cast<std::size_t>(dataset.stride));
  for (std::size_t first = 0; first < dataset.rows; first += rows_of_piece) {
    PackedDataset part = dataset;
    part.rows = std::min(rows_of_piece, dataset.rows - first);
    bytes.resize(extent(part));
    file.read(dataset.offset + first * dataset.stride, bytes);
    for (std::size_t row = 0; row < part.rows; ++row) {
      const auto numbers = std::span(bytes).subspan(row * dataset.stride);
      for (std::size_t k = 0; k < dataset.width; ++k)
        take((first + row) * dataset.width + k, numbers.subspan(k * dataset.number_size));
    }
  }
}

/// Reads every number as `Number`, and converts it to the type of `to`.
template <typename Number, typename To>
void read_as(const ByteFile& file, ByteOrder order, const PackedDataset& dataset,
             std::span<To> to) {
  for_each_number(file, dataset, [&](std::size_t index, std::span<const std::byte> bytes) {
    to[index] = static_cast<To>(number_in<Number>(bytes, order));
  });
}

/// Of each class of numbers, the types of 4 and of 8 bytes.
template <typename To>
void read_numbers(const ByteFile& file, ByteOrder order, const PackedDataset& dataset,
                  std::span<To> to) {
  const bool is_wide = dataset.number_size == 8;
  switch (dataset.number_class) {
    case NumberClass::Float:
      return is_wide ? read_as<double>(file, order, dataset, to)
                     : read_as<float>(file, order, dataset, to);
    case NumberClass::Signed:
      return is_wide ? read_as<std::int64_t>(file, order, dataset, to)
                     : read_as<std::int32_t>(file, order, dataset, to);
    default:
      return is_wide ? read_as<std::uint64_t>(file, order, dataset, to)
                     : read_as<std::uint32_t>(file, order, dataset, to);
  }
}

}  // namespace

ByteFile::ByteFile(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    const int reason = errno;
    if (file_ >= 0) ::close(file_);
    throw Error(ErrorCategory::Io, io_message("read", path, reason));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

ByteFile::~ByteFile() {
  if (file_ >= 0) ::close(file_);
}

ByteFile::ByteFile(ByteFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_) {}

void ByteFile::read(std::uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(file_, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorCategory::Io, io_message("read", path_, errno));
    if (got == 0)
      throw Error(ErrorCategory::Input,
                  fmt::format("{}: ends at byte {}, where more was expected; is it cut short?",
                              path_, offset));
    offset += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

PackedFile::PackedFile(ByteFile file, ByteOrder order, Datasets datasets, Header header)
    : StoredFile(file.path()),
      file_(std::move(file)),
      order_(order),
      datasets_(std::move(datasets)),
      header_(std::move(header)) {
  for (const auto& [name, dataset] : datasets_)
    if (dataset.offset + extent(dataset) > file_.size())
      fail(name, fmt::format("needs bytes up to {}, but the file has {}",
                             dataset.offset + extent(dataset), file_.size()));
}

bool PackedFile::has(const std::string& path) const {
  if (datasets_.contains(path)) return true;
  const auto inside = datasets_.lower_bound(path + "/");
  return inside != datasets_.end() && inside->first.starts_with(path + "/");
}

const PackedDataset& PackedFile::find(const std::string& dataset) const {
  const auto found = datasets_.find(dataset);
  if (found == datasets_.end()) fail(dataset, "is not in the file");
  return found->second;
}

StoredFile::Shape PackedFile::shape(const std::string& dataset) const {
  const PackedDataset& found = find(dataset);
  return found.width == 1 ? Shape{found.rows} : Shape{found.rows, found.width};
}

NumberClass PackedFile::number_class(const std::string& dataset) const {
  return find(dataset).number_class;
}

void PackedFile::check(const std::string& dataset) const { find(dataset); }

void PackedFile::read(const std::string& dataset, std::span<double> to) const {
  read_numbers(file_, order_, find(dataset), to);
}

void PackedFile::read(const std::string& dataset, std::span<std::uint64_t> to,
                      bool /*as_signed*/) const {
  read_numbers(file_, order_, find(dataset), to);
}

std::optional<std::vector<double>> PackedFile::attribute(const std::string& object,
                                                         const std::string& name) const {
  const auto found = header_.find(name);
  if (object != "Header" || found == header_.end()) return {};
  return found->second;
}

}  // namespace gdr
