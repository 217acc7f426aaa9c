// The sizes of a machine, by default those of the real chip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gdr {

/// Elements of a vector instruction; fixed by the pipeline's depth, not by the geometry.
constexpr unsigned max_elements = 4;
/// Mask registers of a PE, each with one bit an element.
constexpr unsigned mask_registers = 8;

struct Geometry {
  std::uint32_t chips_per_board = 4;
  std::uint32_t blocks = 16;                ///< broadcast blocks of a chip
  std::uint32_t pes_per_block = 32;         ///< PEs of a block
  std::uint32_t register_words = 32;        ///< long words of a PE's register file
  std::uint32_t local_words = 256;          ///< long words of a PE's local memory
  std::uint32_t broadcast_words = 1024;     ///< long words of a block's broadcast memory
  std::uint32_t instruction_words = 16384;  ///< instructions the control processor holds
  std::uint64_t dram_bytes = 256ULL << 20;  ///< control processor memory of a chip
  double clock_hz = 500e6;                  ///< PE clock; boards were operated at 400 MHz

  friend bool operator==(const Geometry&, const Geometry&) = default;

  std::uint32_t pes() const noexcept { return blocks * pes_per_block; }
};

/// Largest sizes that operand addresses can name (in long words) and that state may hold.
struct GeometryLimits {
  static constexpr std::uint32_t chips = 64, blocks = 1024, pes_per_block = 4096;
  static constexpr std::uint32_t register_words = 1024, memory_words = 32768;
};

/// Set one field by its option name ("blocks", "pes", "registers", "local", "bm", "chips",
/// "instructions", "dram", "clock"). Returns an empty string, or what is wrong with the value.
/// Sizes are at least 1; memories may be any size up to GeometryLimits.
std::string set_geometry_field(Geometry& geometry, std::string_view name, std::string_view value);

}  // namespace gdr
