#include "emulator/engine/jit/value_places.hpp"

#include <algorithm>

namespace gdr::jit {
namespace {

/// A memory operand that is used again within this number of operations is loaded into a register
/// if one is free. On the library's kernels (native engine) 8 and 64 are 1.5 % faster in the mean
/// than never loading early; without a limit a few kernels lose up to 8 %.
constexpr std::uint32_t load_within = 64;

/// Which values are lanes of memory that are only factors of products.
std::vector<bool> factors_of(const Block& block) {
  std::vector<bool> is_factor(block.values.size());
  for (ValueId v = 0; v < block.values.size(); ++v)
    is_factor[v] = block.values[v].in_memory && block.values[v].place.broadcast;
  for (const Operation& o : block.code) {
    const bool multiplies = o.op == Op::Mul || o.op == Op::Fma;
    const bool one = multiplies && is_factor[o.in[0]] != is_factor[o.in[1]];
    each_operand(o, [&](ValueId v) {
      if (!one || v == o.in[2]) is_factor[v] = false;
    });
  }
  // Loops leave all lanes of what they carry.
  for (const Carried& c : block.carried)
    if (!c.is_constant) is_factor[c.out] = false;
  return is_factor;
}

}  // namespace

ValuePlaces::ValuePlaces(const Block& block, VectorTarget target, RegisterLimits limits,
                         SpillArea& spills, std::vector<Instruction>& moves)
    : block_(block),
      target_(target),
      moves_(moves),
      vectors_(0, limits.vectors, block.values.size()),
      masks_(1, limits.masks, block.values.size()),
      uses_(block),
      slots_(spills, target, block.values.size()),
      is_factor_(block.values.size(), false),
      home_(block.values.size(), RegisterFile::none) {
  if (target.multiplies_by_lane) is_factor_ = factors_of(block);
}

Location ValuePlaces::location(ValueId v) {
  const auto r = static_cast<std::uint8_t>(file(v).where(v));
  return {in_mask_file(v) ? Location::Kind::Mask : Location::Kind::Vector, r, {}, is_factor_[v]};
}

Instruction ValuePlaces::move(Op load_or_store, const Location& to, const Location& from) {
  Instruction i;
  i.op = load_or_store;
  i.to = to;
  i.a = from;
  return i;
}

void ValuePlaces::evict(ValueId v) {
  if (!is_dead(v) && !value(v).in_memory && !slots_.has(v)) {
    store(location(v), slots_.place(v));
  }
  file(v).drop(v);
}

/// A register for a value: its preferred one if free, else any free one, else that of the value
/// with the most distant next use.
void ValuePlaces::place_in_register(ValueId v) {
  RegisterFile& registers = file(v);
  int r = home_[v];
  if (r == RegisterFile::none || !registers.is_free(r)) {
    const auto is_home = [&](int n) {
      return !in_mask_file(v) && std::find(homes_.begin(), homes_.end(), n) != homes_.end();
    };
    r = registers.find_free(is_home);
  }
  if (r == RegisterFile::none) {
    // Prefers to evict values that are in memory, more so where a spill is instructions of its own.
    const std::uint64_t reload_gain = target_.memory == MemoryOperands::None ? 128 : 32;
    r = registers.find_victim([&](ValueId other) {
      return std::uint64_t{uses_.of(other)} + (value(other).in_memory ? reload_gain : 0);
    });
    evict(registers.holder(r));
  }
  registers.put(v, r);
  registers.pin(r, true);
}

Location ValuePlaces::in_any_register(ValueId v) {
  if (!in_register(v)) {
    place_in_register(v);
    load(location(v), memory(place_of(v)));
  }
  const Location l = location(v);
  file(v).pin(l.number, true);
  return l;
}

Location ValuePlaces::anywhere(ValueId v) {
  if (in_register(v)) return in_any_register(v);
  const Place place = place_of(v);
  const MemoryOperands memory_operands = target_.memory;
  if (memory_operands == MemoryOperands::None) return in_any_register(v);
  if (place.broadcast && memory_operands != MemoryOperands::Broadcasts) return in_any_register(v);
  if (!is_dead(v) && uses_.of(v) - position_ <= load_within &&
      vectors_.find_free([](int) { return false; }) != RegisterFile::none) {
    return in_any_register(v);
  }
  return memory(place);
}

/// Where a copy of a value comes from. Hosts without operands in memory have units for loads that
/// are idle, while a copy takes one of the vector units.
Location ValuePlaces::origin_of_copy(ValueId v) {
  if (target_.memory != MemoryOperands::None) return anywhere(v);
  const bool loads = value(v).in_memory && !value(v).place.broadcast;
  return loads || !in_register(v) ? memory(place_of(v)) : in_any_register(v);
}

/// The result reuses the register of an operand with no further use.
bool ValuePlaces::take(ValueId result, ValueId operand) {
  if (operand == no_value || in_mask_file(operand) != in_mask_file(result) || !dies(operand)) {
    return false;
  }
  RegisterFile& registers = file(operand);
  const int r = registers.where(operand);
  release(operand);
  registers.put(result, r);
  registers.pin(r, true);
  return true;
}

void ValuePlaces::release(ValueId v) {
  file(v).drop(v);
  slots_.release(v);
}

Location ValuePlaces::define(const Operation& o) {
  const int home = home_[o.to];
  const bool at_home = home != RegisterFile::none && vectors_.is_free(home);
  bool taken = false;
  for (const ValueId v : {o.in[0], o.in[1], o.in[2], o.mask}) {
    taken = taken || (!at_home && take(o.to, v));
  }
  if (!taken) place_in_register(o.to);
  return location(o.to);
}

Location ValuePlaces::define_over(const Operation& o, ValueId old) {
  const bool stays = !dies(old);
  const Location from = stays ? origin_of_copy(old) : Location{};
  if (stays || !take(o.to, old)) {
    place_in_register(o.to);
    load(location(o.to), from);
  }
  return location(o.to);
}

Location ValuePlaces::define_apart(const Operation& o) {
  place_in_register(o.to);
  return location(o.to);
}

void ValuePlaces::begin(const Operation& o, std::uint32_t position) {
  position_ = position;
  each_operand(o, [&](ValueId v) {
    uses_.advance(v, position_);
    if (in_register(v)) file(v).pin(file(v).where(v), true);
  });
}

void ValuePlaces::end(const Operation& o) {
  each_operand(o, [&](ValueId v) {
    if (v != o.to && is_dead(v)) release(v);
  });
  vectors_.unpin_all();
  masks_.unpin_all();
  if (o.to != no_value && is_dead(o.to)) release(o.to);
}

void ValuePlaces::enter_loop() {
  for (const Carried& c : block_.carried) {
    const int r = vectors_.find_free([](int) { return false; });
    load(vector(r), memory(c.place));
    homes_.push_back(r);
    if (home_[c.out] == RegisterFile::none) home_[c.out] = r;
    if (uses_.has_any(c.in)) vectors_.put(c.in, r);
    vectors_.pin(r, true);  // reserved until all carried values have a register
  }
  vectors_.unpin_all();
}

void ValuePlaces::restore_carried() {
  struct Move {
    ValueId value;
    int to;
  };
  std::vector<Move> moves;
  for (std::size_t n = 0; n < homes_.size(); ++n) {
    const ValueId v = block_.carried[n].out;
    if (vectors_.where(v) != homes_[n]) moves.push_back({v, homes_[n]});
  }
  // Register moves first, each as soon as no other move reads its target.
  const auto is_read = [&](int r) {
    return std::any_of(moves.begin(), moves.end(),
                       [&](const Move& m) { return vectors_.where(m.value) == r; });
  };
  while (!moves.empty()) {
    auto next = std::find_if(moves.begin(), moves.end(),
                             [&](const Move& m) { return !is_read(m.to) && in_register(m.value); });
    if (next == moves.end()) {
      next =
          std::find_if(moves.begin(), moves.end(), [&](const Move& m) { return !is_read(m.to); });
    }
    if (next == moves.end()) {  // a cycle: spill one value
      const ValueId aside = moves.front().value;
      store(location(aside), slots_.place(aside));
      vectors_.drop(aside);
      continue;
    }
    const Location from =
        in_register(next->value) ? location(next->value) : memory(place_of(next->value));
    load(vector(next->to), from);
    moves.erase(next);
  }
}

std::vector<Instruction> ValuePlaces::leave_loop() const {
  std::vector<Instruction> stores;
  for (std::size_t n = 0; n < homes_.size(); ++n)
    if (!block_.carried[n].is_constant)
      stores.push_back(move(Op::Store, memory(block_.carried[n].place), vector(homes_[n])));
  return stores;
}

}  // namespace gdr::jit
