// TIPSY's format: a header, then a record of numbers of 4 bytes for each particle: gas, dark
// matter, stars.
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>

#include "gdr/error.hpp"
#include "libgdr/io/binary_formats.hpp"
#include "libgdr/io/gadget_parts.hpp"

namespace gdr {
namespace {

/// Particles of a kind: numbers in a record, of which the first are mass, position and velocity.
struct Kind {
  std::size_t type;
  std::size_t numbers;
};
constexpr std::array<Kind, 3> tipsy_kinds = {{{0, 12}, {1, 9}, {4, 11}}};
constexpr std::size_t number_size = 4;

struct TipsyHeader {
  double time = 0;
  std::uint32_t particles = 0, dimensions = 0;
  std::array<std::uint32_t, 3> counts{};

  std::uint64_t record_bytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t k = 0; k < tipsy_kinds.size(); ++k)
      bytes += std::uint64_t{counts[k]} * tipsy_kinds[k].numbers * number_size;
    return bytes;
  }
};
constexpr std::uint64_t header_bytes = 32, header_without_filler = 28;

/// The header in a byte order, if it is one: numbers of particles that agree with their sum.
std::optional<TipsyHeader> read_tipsy_header(const ByteFile& file, ByteOrder order) {
  if (file.size() < header_without_filler) return {};
  TipsyHeader header;
  header.time = file.number<double>(0, order);
  header.particles = file.number<std::uint32_t>(8, order);
  header.dimensions = file.number<std::uint32_t>(12, order);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < tipsy_kinds.size(); ++k)
    sum += header.counts[k] = file.number<std::uint32_t>(16 + 4 * k, order);
  const bool is_header =
      header.dimensions >= 1 && header.dimensions <= 3 && sum > 0 && sum == header.particles;
  return is_header ? std::optional(header) : std::nullopt;
}

/// Where the records begin. Throws Error (Input) for files of another size than the header tells.
std::uint64_t first_record(const ByteFile& file, const TipsyHeader& header, ByteOrder order) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCategory::Input,
                fmt::format("{}: as a snapshot in TIPSY's format: {}", file.path(), what));
  };
  if (header.dimensions != 3) fail(fmt::format("it has {} dimensions", header.dimensions));
  const std::uint64_t bytes = header.record_bytes();
  if (file.size() == header_bytes + bytes) return header_bytes;
  // Without the number that fills the header a mass follows; zero there is that number, in a file
  // that is cut short.
  if (file.size() == header_without_filler + bytes &&
      file.number<std::uint32_t>(header_without_filler, order) != 0)
    return header_without_filler;
  fail(
      fmt::format("{} particles are {} bytes, but the file has {}; is it cut short, or with "
                  "numbers of 8 bytes?",
                  header.particles, header_bytes + bytes, file.size()));
  return 0;
}

}  // namespace

std::optional<ByteOrder> tipsy_byte_order(const ByteFile& file) {
  for (const ByteOrder order : {ByteOrder::Big, ByteOrder::Little})
    if (read_tipsy_header(file, order)) return order;
  return {};
}

std::unique_ptr<StoredFile> open_tipsy(const std::string& path) {
  ByteFile file(path);
  const std::optional<ByteOrder> order = tipsy_byte_order(file);
  if (!order)
    throw Error(ErrorCategory::Input, fmt::format("{}: is not a snapshot in TIPSY's format", path));
  const TipsyHeader header = *read_tipsy_header(file, *order);
  PackedFile::Datasets datasets;
  std::vector<double> counts(6, 0.0);
  std::uint64_t at = first_record(file, header, *order);
  for (std::size_t k = 0; k < tipsy_kinds.size(); ++k) {
    const std::uint64_t stride = tipsy_kinds[k].numbers * number_size;
    const std::size_t rows = header.counts[k];
    counts[tipsy_kinds[k].type] = static_cast<double>(rows);
    const auto add = [&](const char* name, std::size_t first, std::size_t width) {
      datasets[group_name(tipsy_kinds[k].type) + "/" + name] = {
          at + first * number_size, stride, rows, width, number_size, NumberClass::Float};
    };
    if (rows > 0) {
      add("Masses", 0, 1);
      add("Coordinates", 1, 3);
      add("Velocities", 4, 3);
    }
    at += rows * stride;
  }
  return std::make_unique<PackedFile>(
      std::move(file), *order, std::move(datasets),
      PackedFile::Header{{"Time", {header.time}}, {"NumPart_ThisFile", counts}});
}

std::optional<OpenStoredFile> binary_format(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const ByteFile file(path);
  if (gadget_byte_order(file)) return open_gadget_binary;
  if (tipsy_byte_order(file)) return open_tipsy;
  return {};
}

}  // namespace gdr
