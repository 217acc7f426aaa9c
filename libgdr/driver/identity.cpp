// Identification of a board from its registers, and check of its version.
#include <bit>
#include <cmath>
#include <cstring>

#include "libgdr/driver/remote_board.hpp"

namespace gdr::driver {
namespace {

std::string name_at(BoardAccess& access, Register r) {
  const auto second = static_cast<Register>(static_cast<std::uint32_t>(r) + 8);
  const std::uint64_t words[] = {access.read(r), access.read(second)};
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words, sizeof(words));
  return text;
}

/// A size of a board: register, field and maximum.
struct Size {
  Register reg;
  std::uint32_t Geometry::*field;
  std::uint32_t max;
};
constexpr Size sizes[] = {
    {Register::Chips, &Geometry::chips_per_board, GeometryLimits::chips},
    {Register::Blocks, &Geometry::blocks, GeometryLimits::blocks},
    {Register::Pes, &Geometry::pes_per_block, GeometryLimits::pes_per_block},
    {Register::RegisterWords, &Geometry::register_words, GeometryLimits::register_words},
    {Register::LocalWords, &Geometry::local_words, GeometryLimits::memory_words},
    {Register::BroadcastWords, &Geometry::broadcast_words, GeometryLimits::memory_words},
    {Register::InstructionWords, &Geometry::instruction_words, ~std::uint32_t{0}},
};
constexpr std::uint64_t max_memory_bytes = std::uint64_t{1} << 48;

}  // namespace

void RemoteBoard::identify() {
  const auto read = [this](Register r) { return access_->read(r); };
  if (read(Register::Identity) != board_identity)
    throw Error(ErrorCategory::Device,
                access_->name() +
                    " is not a board: its register IDENTITY has another value; check the device");
  const std::uint64_t version = read(Register::Version);
  if (version >> 32 != board_version >> 32)
    throw Error(ErrorCategory::Device,
                access_->name() + " has registers of version " + std::to_string(version >> 32) +
                    ", this library supports version " + std::to_string(board_version >> 32) +
                    "; use a library and a board of the same release");
  Geometry& g = identity_.geometry;
  bool valid = true;
  for (const Size& size : sizes) {
    const std::uint64_t value = read(size.reg);
    valid = valid && value >= 1 && value <= size.max;
    g.*size.field = static_cast<std::uint32_t>(value);
  }
  g.dram_bytes = read(Register::MemoryBytes);
  g.clock_hz = std::bit_cast<double>(read(Register::ClockHz));
  valid = valid && g.dram_bytes >= 4096 && g.dram_bytes <= max_memory_bytes &&
          std::isfinite(g.clock_hz) && g.clock_hz > 0;
  if (!valid)
    throw Error(ErrorCategory::Device,
                access_->name() +
                    " has registers with an invalid geometry or clock; reset or replace the board");
  identity_.engine = name_at(*access_, Register::EngineName);
  identity_.isa = name_at(*access_, Register::IsaName);
  identity_.threads = static_cast<unsigned>(read(Register::Threads));
  identity_.capabilities = read(Register::Capabilities);
}

}  // namespace gdr::driver
