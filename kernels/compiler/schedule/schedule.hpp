// When each operation of the loop issues, and what kind of place each value lives in.
//
// The loop is software-pipelined: a new item starts every `interval` instructions, and every item
// does the same thing at the same times after its start (modulo scheduling; B. R. Rau, "Iterative
// modulo scheduling", 1996). An instruction takes one clock an element, so with four elements a
// result can be read by the next instruction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/machine.hpp"

namespace gdr::kc {

/// The kinds of places. A long in T takes both halves.
enum class Home : std::uint8_t {
  Register,  ///< a vector in the register file
  Local,     ///< a vector in local memory
  TUpper,    ///< T, or its upper half
  TLower,    ///< the lower half of T
  Block,     ///< Field: a scalar register of its block, loaded with its neighbours
  Scalar,    ///< Field: a scalar register, loaded on its own
};

/// Is it T, or a half of it?
constexpr bool in_t(Home home) noexcept { return home == Home::TUpper || home == Home::TLower; }

/// Where a value lives. A computed value may also be written to T, for its first readers.
struct Placement {
  Home home = Home::Register;
  bool copy = false;  ///< also in T
  Home copy_home = Home::TUpper;
  std::uint8_t copy_reads = 0;  ///< how many of its readers, from the first on, read the copy
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// A group of neighbouring long words of the item that one transfer brings into registers.
struct Block {
  unsigned first_word = 0;      ///< in the item, in long words
  std::vector<ValueId> fields;  ///< those that lie in it
};

/// What the search looks for a schedule of.
struct Problem {
  const MachineLoop* loop = nullptr;
  unsigned latency = 1;           ///< instructions from a result to its reader
  unsigned register_shorts = 64;  ///< size of the register file
  unsigned copies = 2;            ///< items in a body at most: a value may live `copies` intervals
  unsigned stages = 3;            ///< intervals that an item may take at most
  std::vector<Block> blocks;
  std::vector<std::uint32_t> field_word;  ///< of each value: its long word in the item
  std::vector<int> field_half;            ///< of each value: 1 for the lower half of that word
  /// Operations that need an instruction of their own kind because the first passes must not do
  /// them for an item that does not exist (see pipeline.hpp).
  std::vector<bool> guarded;
  std::stop_token stop;  ///< cancels the search (stop.hpp)
};

struct Schedule {
  unsigned interval = 0;         ///< instructions between two items
  std::vector<int> time;         ///< of each operation, from the item's start; then of each block
  std::vector<bool> active;      ///< loads that the placements make needless are not
  std::vector<Placement> place;  ///< of each value
};

/// The least interval that units and ports could allow: no schedule is shorter.
unsigned least_interval(const Problem& problem);

/// Look for a schedule of this interval: simulated annealing over times and places, for `steps`
/// moves. The same seed gives the same schedule on any host. A schedule that `good` refuses (there
/// is no room for its values, say) is not taken, and the search goes on. Nothing if none was found.
std::optional<Schedule> find_schedule(const Problem& problem, unsigned interval, std::uint64_t seed,
                                      std::uint64_t steps,
                                      const std::function<bool(const Schedule&)>& good);

}  // namespace gdr::kc
