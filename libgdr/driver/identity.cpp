// What a board says about itself, and whether this driver can work with it.
#include <bit>
#include <cstring>

#include "libgdr/driver/driven_board.hpp"

namespace gdr::driver {
namespace {

std::string name_at(BoardAccess& access, Register r) {
  const auto second = static_cast<Register>(static_cast<std::uint32_t>(r) + 8);
  const std::uint64_t words[] = {access.read(r), access.read(second)};
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words, sizeof(words));
  return text;
}

}  // namespace

void DrivenBoard::identify() {
  const auto read = [this](Register r) { return access_->read(r); };
  if (read(Register::Identity) != board_identity)
    throw Error(ErrorCategory::Device,
                access_->name() + " is no board: its first register holds something else");
  const std::uint64_t version = read(Register::Version);
  if (version >> 32 != board_version >> 32)
    throw Error(ErrorCategory::Device,
                access_->name() + " has registers of version " + std::to_string(version >> 32) +
                    ", this library knows version " + std::to_string(board_version >> 32) +
                    "; use a library and a board of the same release");
  Geometry& g = identity_.geometry;
  const auto size = [&](Register r) { return static_cast<std::uint32_t>(read(r)); };
  g.chips_per_board = size(Register::Chips);
  g.blocks = size(Register::Blocks);
  g.pes_per_block = size(Register::Pes);
  g.register_words = size(Register::RegisterWords);
  g.local_words = size(Register::LocalWords);
  g.broadcast_words = size(Register::BroadcastWords);
  g.instruction_words = size(Register::InstructionWords);
  g.dram_bytes = read(Register::MemoryBytes);
  g.clock_hz = std::bit_cast<double>(read(Register::ClockHz));
  const bool sensible = g.chips_per_board >= 1 && g.chips_per_board <= GeometryLimits::chips &&
                        g.blocks >= 1 && g.blocks <= GeometryLimits::blocks &&
                        g.pes_per_block >= 1 && g.pes_per_block <= GeometryLimits::pes_per_block &&
                        g.dram_bytes >= 4096 && g.clock_hz > 0;
  if (!sensible)
    throw Error(ErrorCategory::Device, access_->name() + " describes a machine that cannot be");
  identity_.engine = name_at(*access_, Register::EngineName);
  identity_.isa = name_at(*access_, Register::IsaName);
  identity_.threads = static_cast<unsigned>(read(Register::Threads));
  identity_.capabilities = read(Register::Capabilities);
}

}  // namespace gdr::driver
