// The registers of a board, in its first BAR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "emulator/isa/geometry.hpp"

namespace gdr {

/// Byte offsets of 64-bit registers. The board writes those below `host_registers` and never reads
/// them; the host writes the others.
enum class Register : std::uint32_t {
  Identity = 0x000,
  Version = 0x008,
  Chips = 0x010,
  Blocks = 0x018,
  Pes = 0x020,
  RegisterWords = 0x028,
  LocalWords = 0x030,
  BroadcastWords = 0x038,
  InstructionWords = 0x040,
  MemoryBytes = 0x048,
  ClockHz = 0x050,
  Capabilities = 0x058,
  EngineName = 0x060,
  IsaName = 0x070,
  Threads = 0x080,
  MaxCommands = 0x088,
  MaxResults = 0x090,

  Status = 0x100,
  Head = 0x108,
  Interrupts = 0x110,
  Heartbeat = 0x118,
  Error = 0x120,
  ErrorSequence = 0x128,
  Lists = 0x130,
  Refused = 0x138,
  BytesIn = 0x140,
  BytesOut = 0x148,
  BusyNanoseconds = 0x150,
  ChecksumErrors = 0x158,
  Resets = 0x160,

  ChipStatus = 0x400,
  ChipCommands = 0x408,
  ChipError = 0x410,
  ChipErrorCommand = 0x418,
  ChipInstructions = 0x420,
  ChipHead = 0x428,
  ChipErrorSequence = 0x430,
  ChipRefused = 0x438,

  Control = 0x2000,
  RingBase = 0x2008,
  RingEntries = 0x2010,
  Doorbell = 0x2018,
  InterruptMask = 0x2020,
  Stop = 0x2028,

  ChipRingBase = 0x2400,
  ChipRingEntries = 0x2408,
  ChipDoorbell = 0x2410,
};
constexpr std::uint32_t host_registers =
    0x2000;                                  ///< offset of the first register that the host writes
constexpr std::uint32_t chip_stride = 0x40;  ///< distance of a register of adjacent chips

/// The register of a chip, from that of chip 0.
constexpr Register of_chip(Register r, unsigned chip) noexcept {
  return static_cast<Register>(static_cast<std::uint32_t>(r) + chip * chip_stride);
}
constexpr std::size_t bar_bytes = 0x4000;

/// Value of Register::Identity: "GRAPE-GD", least significant byte first.
constexpr std::uint64_t board_identity = 0x44472d4550415247;
/// Value of Register::Version: host and board must agree in the upper half.
constexpr std::uint64_t board_version = (std::uint64_t{2} << 32) | 0;

// Bits of Register::Capabilities.
constexpr std::uint64_t capability_exact = 1;     ///< results are bit-exact
constexpr std::uint64_t capability_all_bits = 2;  ///< products use all bits of a factor
constexpr std::uint64_t capability_emulated = 4;  ///< emulated in software

// Bits of Register::Status.
constexpr std::uint64_t status_ready = 1;   ///< reset complete; rings are processed
constexpr std::uint64_t status_halted = 2;  ///< at least one chip is halted
constexpr std::uint64_t status_asleep = 4;  ///< a doorbell requires a signal (emulated boards)
constexpr std::uint64_t status_failed = 8;  ///< the board's ring is invalid: reset required

// Bits of Register::ChipStatus.
constexpr std::uint64_t chip_loaded = 1;     ///< the instruction store holds a program
constexpr std::uint64_t chip_error = 2;      ///< the last list with a part for this chip failed
constexpr std::uint64_t chip_halted = 4;     ///< a list failed: others are skipped until a resume
constexpr std::uint64_t chip_failed = 8;     ///< the chip's ring is invalid: reset required
constexpr std::uint64_t chip_by_board = 16;  ///< the failed list came through the board's queue

/// The registers of a queue of descriptors.
struct QueueRegisters {
  Register ring_base, ring_entries, doorbell, head, status, error, error_sequence;
  std::uint64_t failed_bit;  ///< bit of the status register
};
/// Registers of the board's queue, or of that of a chip.
constexpr QueueRegisters queue_registers(std::optional<unsigned> chip) noexcept {
  if (!chip)
    return {Register::RingBase, Register::RingEntries, Register::Doorbell,      Register::Head,
            Register::Status,   Register::Error,       Register::ErrorSequence, status_failed};
  const auto at = [chip](Register r) { return of_chip(r, *chip); };
  return {at(Register::ChipRingBase),      at(Register::ChipRingEntries),
          at(Register::ChipDoorbell),      at(Register::ChipHead),
          at(Register::ChipStatus),        at(Register::ChipError),
          at(Register::ChipErrorSequence), chip_failed};
}

/// A register with a size of the board: its field, and the maximum.
struct SizeRegister {
  Register reg;
  std::uint32_t Geometry::*field;
  std::uint32_t max;
};
inline constexpr SizeRegister size_registers[] = {
    {Register::Chips, &Geometry::chips_per_board, GeometryLimits::chips},
    {Register::Blocks, &Geometry::blocks, GeometryLimits::blocks},
    {Register::Pes, &Geometry::pes_per_block, GeometryLimits::pes_per_block},
    {Register::RegisterWords, &Geometry::register_words, GeometryLimits::register_words},
    {Register::LocalWords, &Geometry::local_words, GeometryLimits::memory_words},
    {Register::BroadcastWords, &Geometry::broadcast_words, GeometryLimits::memory_words},
    {Register::InstructionWords, &Geometry::instruction_words, ~std::uint32_t{0}},
};

/// A row of the table of registers.
struct RegisterRow {
  Register reg;
  std::string_view name;
  std::string_view meaning;
  std::uint32_t words = 1;  ///< 64-bit words

  /// One register for each chip, `chip_stride` bytes apart.
  constexpr bool of_chip() const noexcept {
    return (reg >= Register::ChipStatus && reg < Register::Control) ||
           reg >= Register::ChipRingBase;
  }
};
std::span<const RegisterRow> register_table() noexcept;

/// The table in Markdown, for the documentation.
std::string register_page();

}  // namespace gdr
