// GADGET's binary formats. A file is a sequence of records as Fortran writes them: a length of four
// bytes, the content, the length again. In format 2 a record with a name of four letters is before
// each block; in format 1 the blocks have a fixed order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/io/binary_formats.hpp"
#include "libgdr/io/gadget_parts.hpp"

namespace gdr {
namespace {

constexpr std::uint32_t header_length = 256, name_length = 8;
constexpr std::uint64_t mark_length = 4;
constexpr std::size_t types = 6;
constexpr std::size_t gas = 0;

/// The header, by the offsets of its numbers.
struct GadgetHeader {
  std::array<std::uint32_t, types> counts{};
  std::array<double, types> masses{};  ///< mass of each particle of a type; 0: in the block MASS
  PackedFile::Header attributes;
};

GadgetHeader read_gadget_header(const ByteFile& file, ByteOrder order, std::uint64_t at) {
  GadgetHeader header;
  std::vector<double> counts, masses, total, total_high;
  for (std::size_t type = 0; type < types; ++type) {
    header.counts[type] = file.number<std::uint32_t>(at + 4 * type, order);
    header.masses[type] = file.number<double>(at + 24 + 8 * type, order);
    counts.push_back(header.counts[type]);
    masses.push_back(header.masses[type]);
    total.push_back(file.number<std::uint32_t>(at + 96 + 4 * type, order));
    total_high.push_back(file.number<std::uint32_t>(at + 168 + 4 * type, order));
  }
  header.attributes = {{"NumPart_ThisFile", counts},
                       {"MassTable", masses},
                       {"NumPart_Total", total},
                       {"NumPart_Total_HighWord", total_high}};
  const auto number = [&](const char* name, std::uint64_t offset) {
    header.attributes[name] = {file.number<double>(at + offset, order)};
  };
  number("Time", 72);
  number("Redshift", 80);
  number("BoxSize", 128);
  number("Omega0", 136);
  number("OmegaLambda", 144);
  number("HubbleParam", 152);
  header.attributes["NumFilesPerSnapshot"] = {
      static_cast<double>(file.number<std::int32_t>(at + 124, order))};
  return header;
}

/// A block of particles: numbers for those of some types.
struct Block {
  const char *name, *dataset;
  std::size_t width;
  NumberClass number_class;
};
/// In the order of format 1.
constexpr std::array<Block, 4> blocks = {{{"POS ", "Coordinates", 3, NumberClass::Float},
                                          {"VEL ", "Velocities", 3, NumberClass::Float},
                                          {"ID  ", "ParticleIDs", 1, NumberClass::Unsigned},
                                          {"MASS", "Masses", 1, NumberClass::Float}}};

class GadgetReader {
 public:
  GadgetReader(ByteFile file, ByteOrder order) : file_(std::move(file)), order_(order) {}

  std::unique_ptr<StoredFile> read() {
    const bool is_named = mark(0) == name_length;
    std::uint64_t at = is_named ? 2 * mark_length + name_length : 0;
    if (mark(at) != header_length || mark(at + mark_length + header_length) != header_length)
      fail("the header has no length of 256 bytes");
    header_ = read_gadget_header(file_, order_, at + mark_length);
    at += 2 * mark_length + header_length;
    if (is_named)
      read_named_blocks(at);
    else
      for (const Block& block : blocks) at = read_block(block, at);
    return std::make_unique<PackedFile>(std::move(file_), order_, std::move(datasets_),
                                        std::move(header_.attributes));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCategory::Input,
                fmt::format("{}: as a snapshot in GADGET's binary format: {}; is the file damaged, "
                            "or of a code that changed the format? In HDF5 (SnapFormat=3 of "
                            "GADGET) it can be read",
                            file_.path(), what));
  }

  std::uint32_t mark(std::uint64_t at) const { return file_.number<std::uint32_t>(at, order_); }

  /// Particles of a type in a block.
  std::uint64_t count(const Block& block, std::size_t type) const {
    const bool is_mass = std::strcmp(block.name, "MASS") == 0;
    return is_mass && header_.masses[type] != 0 ? 0 : header_.counts[type];
  }

  /// Particles of all types in a block.
  std::uint64_t count(const Block& block) const {
    std::uint64_t particles = 0;
    for (std::size_t type = 0; type < types; ++type) particles += count(block, type);
    return particles;
  }

  /// Bytes of a number: both lengths of the record tell, of which only the low 32 bits are stored.
  std::size_t number_size(const Block& block, std::uint64_t at, std::uint64_t numbers) const {
    for (const std::size_t size : {4U, 8U}) {
      const std::uint64_t length = numbers * size, end = at + mark_length + length;
      const auto low = static_cast<std::uint32_t>(length);
      if (mark(at) == low && end + mark_length <= file_.size() && mark(end) == low) return size;
    }
    fail(
        fmt::format("the block of {} at byte {} has a length of {} bytes; expected {} numbers of 4 "
                    "or 8 bytes",
                    block.dataset, at, mark(at), numbers));
  }

  /// Records where a block is, whose record begins at `at`; returns where the next one does.
  std::uint64_t read_block(const Block& block, std::uint64_t at) {
    const std::uint64_t particles = count(block);
    // A block for no particles may be missing.
    if (particles == 0 && (at == file_.size() || mark(at) != 0)) return at;
    const std::size_t size = number_size(block, at, particles * block.width);
    const std::uint64_t row = size * block.width;
    std::uint64_t place = at + mark_length;
    for (std::size_t type = 0; type < types; ++type) {
      const std::uint64_t rows = count(block, type);
      if (rows > 0)
        datasets_[group_name(type) + "/" + block.dataset] = {
            place, row, static_cast<std::size_t>(rows), block.width, size, block.number_class};
      place += rows * row;
    }
    return place + mark_length;
  }

  /// The blocks of format 2, in any order; those of other names are skipped.
  void read_named_blocks(std::uint64_t at) {
    while (at < file_.size()) {
      if (mark(at) != name_length || mark(at + mark_length + name_length) != name_length)
        fail(fmt::format("there is no name of a block at byte {}", at));
      std::array<std::byte, 4> name{};
      file_.read(at + mark_length, name);
      // The name is followed by the length of the record with its two marks.
      const std::uint32_t length = mark(at + mark_length + 4);
      at += 2 * mark_length + name_length;
      const auto is_named = [&](const Block& b) { return std::memcmp(b.name, &name, 4) == 0; };
      const auto block = std::find_if(blocks.begin(), blocks.end(), is_named);
      const bool is_wanted = block != blocks.end() && count(*block) > 0;
      at = is_wanted ? read_block(*block, at) : at + length;
    }
  }

  ByteFile file_;
  ByteOrder order_;
  GadgetHeader header_;
  PackedFile::Datasets datasets_;
};

}  // namespace

std::optional<ByteOrder> gadget_byte_order(const ByteFile& file) {
  if (file.size() < header_length) return {};
  for (const ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    const auto first = file.number<std::uint32_t>(0, order);
    if (first == header_length || first == name_length) return order;
  }
  return {};
}

std::unique_ptr<StoredFile> open_gadget_binary(const std::string& path) {
  ByteFile file(path);
  const std::optional<ByteOrder> order = gadget_byte_order(file);
  if (!order)
    throw Error(ErrorCategory::Input,
                fmt::format("{}: is not a snapshot in GADGET's binary format", path));
  return GadgetReader(std::move(file), *order).read();
}

}  // namespace gdr
