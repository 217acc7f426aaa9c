// Writes loop bodies whose numbers stay in range: for every place a bound on the size of what it
// holds is kept, and products that would grow past all bounds are not drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/selftest/case.hpp"
#include "emulator/selftest/draw.hpp"
#include "emulator/selftest/words.hpp"

namespace gdr::selftest {

/// A location that a loop uses for one purpose.
struct Place {
  Operand where;
  int level = 0;         ///< its numbers are below 2^level in size
  bool written = false;  ///< its level is known to hold
};

/// What a loop is drawn by. Chances are in percent.
struct LoopStyle {
  Mood immediates = Mood::Moderate;
  unsigned long_chance = 50;     ///< that a temporary is a long
  unsigned mask_chance = 10;     ///< that masks are set and used where they can be
  unsigned integer_chance = 5;   ///< that a step is integer work on float patterns
  unsigned transfer_chance = 5;  ///< that a step stores into the broadcast memory, or reads that
  unsigned pair_chance = 40;     ///< that both arithmetic slots of an instruction are used
  unsigned vlen = max_elements;  ///< of every instruction; 0: drawn for each
  /// How many steps, on average, go to the ends of the range and come back.
  unsigned excursions = 0;
  bool feedback = false;  ///< sums may feed what is summed up
  bool halves = false;    ///< shorts are read as longs, and longs as shorts, now and then
};

/// Where the fields of an item lie, and in which registers the loop holds them.
struct ItemField {
  Operand in_item, in_register;
};

class LoopBuilder {
 public:
  /// Broadcast memory below this address (in shorts) is scratch of the loop.
  static constexpr std::uint32_t scratch_shorts = 8;
  /// Bound that is taken for sums.
  static constexpr int sum_level = 40;
  /// Level up to which numbers are factors.
  static constexpr int largest_factor = 60;
  /// Size of an output item.
  static constexpr std::uint32_t output_shorts = 4;

  /// `test` has its geometry and an empty program; the builder adds to the program.
  LoopBuilder(Draw& draw, Case& test, const LoopStyle& style);

  /// The loop: fetches an item, works on it in `steps` steps, adds to the sums.
  void write_body(unsigned steps);
  /// Before the loop, sums set to zero or left as they are; after it, scaled or not.
  void write_frame();

  const std::vector<ItemField>& fields() const noexcept { return fields_; }
  /// Places that a loop reads without having written them: what targets are made of, and sums.
  std::vector<Operand> starting_places() const;

 private:
  /// A slot that has been drawn, and what is known of the place it writes.
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
  void excursion_step();
  void edge_step();

  Draft product();
  Draft sum();
  Draft scaled(Place& to, const Operand& from, int exponent);
  Draft on_constant(Op op, Place& to, const Operand& a, Long word);
  Place& accumulator();
  Place& temporary();
  const Place* source(int largest_level);
  /// Makes an operand of a slot read a place (null: an immediate); returns its level.
  int read(Operand& operand, Arithmetic& slot, const Place* place);
  Operand view(const Operand& where);
  void write(Draft& draft, Place& place);
  void forget_t();
  void emit(std::initializer_list<Draft> drafts);
  unsigned elements();
  void emit_move(Op op, const Operand& pe, const Operand& bm, unsigned vlen);

  Draw& draw_;
  Case& test_;
  LoopStyle style_;
  std::uint32_t next_register_ = 0;
  unsigned masks_set_ = 0;
  std::vector<ItemField> fields_;
  std::vector<Place> inputs_, temporaries_, sums_;
  Place scratch_;  ///< of the broadcast memory
};

}  // namespace gdr::selftest
