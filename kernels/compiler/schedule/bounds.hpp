// Lower bounds of the initiation interval.
#pragma once

#include <array>
#include <string_view>

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// What limits the initiation interval.
enum class Limit : std::uint8_t {
  Multiplier,   ///< issue slots of the multiplier
  Adder,        ///< issue slots of the adder and integer unit
  Transfer,     ///< issue slots of transfers from the broadcast memory
  Ports,        ///< accesses of register file, local memory and T
  Recurrences,  ///< sums into one result, masks, lists, and values that outlive their registers
  Length,       ///< the duration of an item, which has a limited number of pipeline stages
};
constexpr std::size_t limit_count = 6;
std::string_view name_of(Limit limit) noexcept;

/// No schedule of the problem has a smaller initiation interval (in instructions) than any of
/// these.
struct LowerBounds {
  std::array<unsigned, limit_count> ii{};
  unsigned item_length = 1;  ///< instructions of the critical path of an item
  /// The largest of them, at least 1.
  unsigned least() const noexcept;
  /// The first that reaches the largest.
  Limit limiting() const noexcept;
};

/// The bounds count what every schedule needs: an issue slot for each operation; an access for
/// each operand, unless a product and a sum share it; a write for each result. An instruction with
/// a dmul takes two clocks per element and has twice the ports.
LowerBounds lower_bounds(const Problem& problem);

}  // namespace gdr::kc
