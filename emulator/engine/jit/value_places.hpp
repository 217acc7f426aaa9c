// Where the values of a block are: in registers, in spill slots, or in the memory of their
// operands.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/next_uses.hpp"
#include "emulator/engine/jit/register_file.hpp"
#include "emulator/engine/jit/spill_slots.hpp"

namespace gdr::jit {

/// Places of values at a position of a block, and the moves that change them.
class ValuePlaces {
 public:
  /// `moves`: gets loads and stores.
  ValuePlaces(const Block& block, VectorTarget target, RegisterLimits limits, SpillArea& spills,
              std::vector<Instruction>& moves);

  const Value& value(ValueId v) const { return block_.values[v]; }
  bool in_mask_file(ValueId v) const {
    return target_.mask_registers && value(v).type == Type::Mask;
  }
  bool in_register(ValueId v) { return file(v).where(v) != RegisterFile::none; }
  /// Whether the last operation that reads a value is over.
  bool is_dead(ValueId v) const { return uses_.of(v) == NextUses::never; }
  /// Whether a value is in a register, and dead.
  bool dies(ValueId v) { return in_register(v) && is_dead(v); }

  /// Before an operation: its operands stay in their registers.
  void begin(const Operation& o, std::uint32_t position);
  /// After it: dead values leave their registers and slots.
  void end(const Operation& o);

  /// A value in a register, to which it is loaded if necessary.
  Location in_any_register(ValueId v);
  /// In its register, or where it is in memory, if instructions have such operands.
  Location anywhere(ValueId v);
  /// Where a value is in memory.
  Place place_of(ValueId v) { return slots_.has(v) ? slots_.place(v) : value(v).place; }
  /// The register of the result of an instruction that reads all operands before it writes.
  Location define(const Operation& o);
  /// That of one that changes `old`: its register if it dies here, else a copy.
  Location define_over(const Operation& o, ValueId old);
  /// That of a result which must not be an operand's.
  Location define_apart(const Operation& o);

  /// Before a loop: loads its carried values to registers.
  void enter_loop();
  /// At the end of an iteration every carried value moves to the register where the next iteration
  /// expects it.
  void restore_carried();
  /// After a loop: the stores of the carried values.
  std::vector<Instruction> leave_loop() const;

  static Location memory(Place place) { return {Location::Kind::Memory, 0, place}; }

 private:
  RegisterFile& file(ValueId v) { return in_mask_file(v) ? masks_ : vectors_; }

  static Location vector(int r) {
    return {Location::Kind::Vector, static_cast<std::uint8_t>(r), {}};
  }
  Location location(ValueId v);
  static Instruction move(Op load_or_store, const Location& to, const Location& from);
  void load(const Location& to, const Location& from) {
    moves_.push_back(move(Op::Load, to, from));
  }
  void store(const Location& from, Place to) {
    moves_.push_back(move(Op::Store, memory(to), from));
  }

  void evict(ValueId v);
  void release(ValueId v);
  void place_in_register(ValueId v);
  Location origin_of_copy(ValueId v);
  bool take(ValueId result, ValueId operand);

  const Block& block_;
  const VectorTarget target_;
  std::vector<Instruction>& moves_;
  RegisterFile vectors_, masks_;
  NextUses uses_;
  SpillSlots slots_;
  std::vector<bool> is_factor_;  ///< whether lane 0 of a value is enough
  std::vector<int> home_;        ///< preferred register by value
  std::vector<int> homes_;       ///< register by carried value
  std::uint32_t position_ = 0;   ///< index of the current operation
};

}  // namespace gdr::jit
