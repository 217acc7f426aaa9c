#include "libgdr/io/stored_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <string_view>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr {

void StoredFile::fail(const std::string& where, const std::string& what) const {
  throw Error(ErrorCategory::Input, fmt::format("{}: {} {}", name_, where, what));
}

std::vector<double> StoredFile::doubles(const std::string& dataset) const {
  check(dataset);
  std::vector<double> values(element_count(shape(dataset)));
  read(dataset, values);
  return values;
}

std::vector<std::uint64_t> StoredFile::integers(const std::string& dataset, bool as_signed) const {
  check(dataset);
  std::vector<std::uint64_t> values(element_count(shape(dataset)));
  read(dataset, values, as_signed);
  return values;
}

std::optional<std::int64_t> StoredFile::integer_attribute(const std::string& object,
                                                          const std::string& name) const {
  const auto values = attribute(object, name);
  if (!values) return {};
  const double value = values->front();
  const std::string where = fmt::format("{}/{}:", object, name);
  if (!std::isfinite(value)) fail(where, fmt::format("expected a finite number, got {}", value));
  if (value != std::floor(value)) fail(where, fmt::format("expected an integer, got {}", value));
  // Integers up to 2^53 are exact in a double, which suffices for steps and files.
  if (std::abs(value) > 0x1p53) fail(where, fmt::format("{} is out of range", value));
  return static_cast<std::int64_t>(value);
}

std::size_t element_count(std::span<const std::size_t> shape) noexcept {
  std::size_t count = 1;
  for (const std::size_t n : shape) {
    if (n == 0) return 0;
    if (__builtin_mul_overflow(count, n, &count)) count = std::numeric_limits<std::size_t>::max();
  }
  return count;
}

bool is_hdf5(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return false;
  // The system, not HDF5, reports why a file cannot be opened.
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr std::string_view begin = "\x89HDF\r\n\x1a\n";
  std::array<char, begin.size()> found{};
  ssize_t got = opened < 0 ? -1 : ::pread(opened, found.data(), found.size(), 0);
  const int reason = errno;
  const auto matches = [&] { return std::string_view(found.data(), found.size()) == begin; };
  const bool readable = got >= 0;
  for (off_t at = 512; got > 0 && !matches(); at *= 2)
    got = ::pread(opened, found.data(), found.size(), at);
  if (opened >= 0) ::close(opened);
  if (!readable) throw Error(ErrorCategory::Io, io_message("read", file, reason));
  return matches();
}

}  // namespace gdr
