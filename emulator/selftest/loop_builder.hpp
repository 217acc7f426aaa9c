// Generates loop bodies whose numbers stay in range: tracks a bound for every location, and avoids
// products that would exceed it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/selftest/case.hpp"

namespace gdr::selftest {

/// A location that a loop uses for one purpose.
struct Place {
  Operand where;
  int level = 0;         ///< binary limit: its numbers are below 2^level in magnitude
  bool written = false;  ///< whether its level is known
};

/// Parameters of a random loop. Chances are in percent.
struct LoopStyle {
  OperandDistribution immediates = OperandDistribution::Moderate;
  unsigned long_chance = 50;     ///< long temporaries
  unsigned mask_chance = 10;     ///< masks set and used
  unsigned integer_chance = 5;   ///< integer operations on float patterns
  unsigned transfer_chance = 5;  ///< transfers to or from the broadcast memory
  unsigned pair_chance = 40;     ///< both arithmetic slots used
  unsigned vlen = max_elements;  ///< vector length of every instruction; 0: random
  /// Average number of steps that reach the ends of the range and return.
  unsigned range_limit_steps = 0;
  bool feedback = false;  ///< sums may be operands of the values that are summed
  bool halves = false;    ///< occasionally read shorts as longs and longs as shorts
};

/// Location of an item's field in the item and in registers.
struct ItemField {
  Operand in_item, in_register;
};

class LoopBuilder {
 public:
  /// Broadcast memory below this address (in shorts) is scratch of the loop.
  static constexpr std::uint32_t scratch_shorts = 8;
  /// Assumed bound of sums.
  static constexpr int sum_level = 40;
  /// Level up to which numbers are factors.
  static constexpr int largest_factor = 60;
  /// Size of an output item.
  static constexpr std::uint32_t output_shorts = 4;

  /// `test` has its geometry and an empty program; the builder adds to the program.
  LoopBuilder(Rng& rng, Case& test, const LoopStyle& style);

  /// The loop: fetches an item, works on it in `steps` steps, adds to the sums.
  void write_body(unsigned steps);
  /// Generates Start (sums set to zero or kept) and End (sums scaled or not).
  void write_frame();

  const std::vector<ItemField>& fields() const noexcept { return fields_; }
  /// Places that a loop reads before it writes them: target fields and sums.
  std::vector<Operand> starting_places() const;

 private:
  /// A generated slot, and the bound of the place it writes.
  struct Draft {
    Arithmetic slot;
    Place* to = nullptr;
    int level = 0;
    bool multiplier = false;
  };

  void lay_out_items();
  void lay_out_places();
  Operand take_registers(Width width, bool vector);
  void fetch_item();

  void arithmetic_step();
  void integer_step();
  void reciprocal_root_seed();
  void transfer_step();
  void mask_step();
  void range_limit_step();
  void edge_step();

  Draft product();
  Draft sum();
  Draft scaled(Place& to, const Operand& from, int exponent);
  Draft on_constant(Op op, Place& to, const Operand& a, Long word);
  MaskTarget random_mask();
  Place& accumulator();
  Place& temporary();
  const Place* source(int largest_level);
  /// Makes an operand of a slot read a place (null: an immediate); returns its level.
  int read(Operand& operand, Arithmetic& slot, const Place* place);
  Operand view(const Operand& where);
  void write(Draft& draft, Place& place);
  void emit(std::initializer_list<Draft> drafts);
  unsigned elements();
  void emit_move(Op op, const Operand& pe, const Operand& bm, unsigned vlen);

  Rng& rng_;
  Case& test_;
  LoopStyle style_;
  std::uint32_t next_register_ = 0;
  unsigned masks_set_ = 0;
  std::vector<ItemField> fields_;
  std::vector<Place> inputs_, temporaries_, sums_;
  Place scratch_;  ///< scratch of the broadcast memory
};

}  // namespace gdr::selftest
