// The constants of the time model: each with its value, unit, source and reason, in this file only.
#pragma once

#include <string_view>

#include "emulator/isa/geometry.hpp"

namespace gdr {

/// One constant of a time model.
struct TimeConstant {
  std::string_view name;
  double value;
  std::string_view unit, source, reason;
};

namespace constants {

inline constexpr TimeConstant chip_clock{
    "chip.clock", Geometry{}.clock_hz, "Hz", "published: design clock of the 90 nm chip",
    "default of Geometry::clock_hz; boards were operated at 400e6, which is one option away"};

inline constexpr TimeConstant port_in{
    "port.in", 1, "clocks a 64-bit word", "commonly recalled: 4 GB/s at 500 MHz",
    "words enter a chip one a clock, to any set of blocks at once"};

inline constexpr TimeConstant port_out{
    "port.out", 2, "clocks a 64-bit word", "commonly recalled: 2 GB/s at 500 MHz",
    "words leave a chip through the reduction network, one every two clocks"};

inline constexpr TimeConstant dram{
    "dram.bandwidth", 4e9, "bytes/s", "published: 16 GB/s of board memory in total, four chips",
    "a control processor's memory streams j-items to its chip and takes output items; at clocks "
    "above 500 MHz it, not the port, limits the stream"};

inline constexpr TimeConstant link_write{
    "link.write", 2.5e9, "bytes/s", "published: measured on the original board (4e9 in theory)",
    "host to board by DMA, large transfers; dominates forces on few sources"};

inline constexpr TimeConstant link_read{
    "link.read", 1.6e9, "bytes/s", "published: measured on the original board (4e9 in theory)",
    "board to host by DMA, large transfers, while the other direction works too"};

/// The only published numbers for power are those of whole chips, so every clock of a PE costs the
/// same, whatever its units do; the share of memories, network and leakage is in it.
inline constexpr TimeConstant pe_clock_energy{
    "pe.clock.energy", 65 / (512 * 500e6), "J", "published: 65 W of a chip of 512 PEs at 500 MHz",
    "energy of a clock of a PE; 50 W at 400 MHz are published, too, within 4 % of it"};

}  // namespace constants
}  // namespace gdr
