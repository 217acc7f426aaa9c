// Which ports and locations each element of an instruction uses: the one place from which the
// assembler's port limits and hazard proofs come.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/instruction.hpp"

namespace gdr {

enum class Port : std::uint8_t {
  RegisterRead,
  RegisterWrite,
  LocalAccess,
  TRead,
  TWrite,
  BmAccess
};
constexpr unsigned port_count = 6;

/// Accesses a clock that a port takes (twice as many for an element that takes two clocks).
constexpr std::array<std::uint8_t, port_count> port_limits{2, 1, 1, 1, 1, 1};
std::string_view port_name(Port port) noexcept;

/// One access of one element: `shorts` consecutive shorts from `address` in `space` (Register,
/// Local, T, Bm*, or masks).
struct Access {
  enum class What : std::uint8_t { Register, Local, T, Bm, BmSource, BmOutput, Mask };
  What what;
  bool write;
  std::uint8_t slot;      ///< 0 multiplier, 1 adder/integer, 2 transfer, 3 predicate
  std::uint32_t address;  ///< address, shorts; of Mask the mask register; of T always 0 or 1
  std::uint32_t shorts;   ///< number of shorts (T-indirect: its whole range)
};

/// The port that an access of a memory goes through (masks have none).
Port port_of(const Access& access) noexcept;
/// A memory that operands address.
struct MemorySize {
  std::string_view name;
  std::uint32_t shorts;
};
/// The memory of a space; without name and size where operands have no address.
MemorySize memory_of(Space space, const Geometry& geometry) noexcept;

/// All accesses of element `element`, reads before writes. A read that two operands share (same
/// address and width) is listed once. T-indirect operands also read T.
void accesses_of_element(const Instruction& instruction, unsigned element, const Geometry& geometry,
                         std::vector<Access>& out);

/// The number of accesses of one element by port.
std::array<unsigned, port_count> port_accesses(const Instruction& instruction,
                                               const Geometry& geometry);

/// Why the accesses of one element cannot be executed together.
struct AccessConflict {
  std::optional<Port>
      port;  ///< port with more accesses than its limit; none: two writes of a location
  unsigned used = 0, limit = 0;
};
bool has_duplicate_write(const std::vector<Access>& accesses) noexcept;
/// The first conflict of an element that takes `stride` clocks, or nothing.
std::optional<AccessConflict> find_conflict(const std::vector<Access>& accesses, unsigned stride);

/// Empty if the instruction keeps every port limit, writes no location twice in one element and
/// names only locations that the geometry has; else one line saying what is wrong.
std::string check_ports(const Instruction& instruction, const Geometry& geometry);

}  // namespace gdr
