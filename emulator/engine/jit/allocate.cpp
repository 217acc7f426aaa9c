#include "emulator/engine/jit/allocate.hpp"

#include <algorithm>

namespace gdr::jit {
namespace {

/// A memory operand that is used again within this number of operations is loaded into a register
/// if one is free. On the library's kernels (native engine) 8 and 64 are 1.5 % faster in the mean
/// than never loading early; without a limit a few kernels lose up to 8 %.
constexpr std::uint32_t load_within = 64;

/// One class of registers and the values in them.
class RegisterFile {
 public:
  static constexpr int none = -1;

  /// Registers 0 .. count - 1, without those below `first`.
  RegisterFile(unsigned first, unsigned count, std::size_t values)
      : first_(first), holder_(count, no_value), pinned_(count, false), register_(values, none) {}

  int where(ValueId value) const noexcept { return register_[value]; }
  ValueId holder(int r) const noexcept { return holder_[static_cast<std::size_t>(r)]; }
  void put(ValueId value, int r) noexcept {
    holder_[static_cast<std::size_t>(r)] = value;
    register_[value] = r;
  }
  void drop(ValueId value) noexcept {
    if (register_[value] == none) return;
    holder_[static_cast<std::size_t>(register_[value])] = no_value;
    register_[value] = none;
  }
  void pin(int r, bool on) noexcept { pinned_[static_cast<std::size_t>(r)] = on; }
  bool is_free(int r) const noexcept {
    return holder(r) == no_value && !pinned_[static_cast<std::size_t>(r)];
  }
  void unpin_all() noexcept { pinned_.assign(pinned_.size(), false); }

  /// A free register, if possible one for which `avoid` is false, or none.
  template <typename Avoid>
  int find_free(Avoid avoid) const noexcept {
    int found = none;
    for (unsigned r = first_; r < holder_.size(); ++r) {
      const int n = static_cast<int>(r);
      if (!is_free(n)) continue;
      if (!avoid(n)) return n;
      found = n;
    }
    return found;
  }
  /// The register whose value `next_use` says is needed latest.
  template <typename NextUse>
  int find_victim(NextUse next_use) const noexcept {
    int best = none;
    std::uint64_t latest = 0;
    for (unsigned r = first_; r < holder_.size(); ++r) {
      if (pinned_[r] || holder_[r] == no_value) continue;
      const std::uint64_t use = next_use(holder_[r]);
      if (best != none && use <= latest) continue;
      best = static_cast<int>(r);
      latest = use;
    }
    return best;
  }

 private:
  unsigned first_;
  std::vector<ValueId> holder_;  ///< by register
  std::vector<bool> pinned_;
  std::vector<int> register_;  ///< by value
};

class Allocator {
 public:
  Allocator(const Block& block, VectorTarget target, RegisterLimits limits, SpillArea& spills)
      : block_(block),
        target_(target),
        spills_(spills),
        vectors_(0, limits.vectors, block.values.size()),
        masks_(1, limits.masks, block.values.size()),
        uses_(block.values.size()),
        next_(block.values.size(), 0),
        slot_(block.values.size(), no_slot),
        home_(block.values.size(), RegisterFile::none) {
    index_uses();
  }

  AllocatedBlock run() {
    enter();
    made_.before = std::move(out_);
    out_.clear();
    for (position_ = 0; position_ < block_.code.size(); ++position_) {
      operation(block_.code[position_]);
    }
    restore();
    made_.body = std::move(out_);
    for (std::size_t n = 0; n < homes_.size(); ++n) {
      made_.after.push_back(move(Op::Store, memory(block_.carried[n].place), vector(homes_[n])));
    }
    return std::move(made_);
  }

 private:
  static constexpr std::int32_t no_slot = -1;
  static constexpr std::uint32_t never = ~std::uint32_t{0};

  // --- values
  const Value& value(ValueId v) const { return block_.values[v]; }
  bool in_mask_file(ValueId v) const { return target_.avx512 && value(v).type == Type::Mask; }
  RegisterFile& file(ValueId v) { return in_mask_file(v) ? masks_ : vectors_; }
  bool in_register(ValueId v) { return file(v).where(v) != RegisterFile::none; }
  std::uint32_t next_use(ValueId v) const {
    return next_[v] < uses_[v].size() ? uses_[v][next_[v]] : never;
  }
  bool is_dead(ValueId v) const { return next_use(v) == never; }
  bool dies(ValueId v) { return in_register(v) && is_dead(v); }

  void note_use(ValueId v, std::uint32_t position) {
    if (uses_[v].empty() || uses_[v].back() != position) uses_[v].push_back(position);
  }
  void index_uses() {
    for (std::uint32_t p = 0; p < block_.code.size(); ++p) {
      each_operand(block_.code[p], [&](ValueId v) { note_use(v, p); });
    }
    const auto end = static_cast<std::uint32_t>(block_.code.size());
    for (const Carried& c : block_.carried) note_use(c.out, end);
  }

  // --- locations
  static Location vector(int r) {
    return {Location::Kind::Vector, static_cast<std::uint8_t>(r), {}};
  }
  static Location memory(Place place) { return {Location::Kind::Memory, 0, place}; }
  Location location(ValueId v) {
    const auto r = static_cast<std::uint8_t>(file(v).where(v));
    return {in_mask_file(v) ? Location::Kind::Mask : Location::Kind::Vector, r, {}};
  }
  Place spill_place(ValueId v) {
    if (slot_[v] == no_slot) {
      if (free_slots_.empty()) {
        slot_[v] = static_cast<std::int32_t>(slots_++);
        spills_.slots = std::max(spills_.slots, slots_);
      } else {
        slot_[v] = free_slots_.back();
        free_slots_.pop_back();
      }
    }
    const auto bytes = static_cast<std::int32_t>(target_.vector_bytes());
    return {spills_.base, false, spills_.first + slot_[v] * bytes};
  }
  Place place_of(ValueId v) { return slot_[v] != no_slot ? spill_place(v) : value(v).place; }

  static Instruction move(Op load_or_store, const Location& to, const Location& from) {
    Instruction i;
    i.op = load_or_store;
    i.to = to;
    i.a = from;
    return i;
  }
  void load(const Location& to, const Location& from) { out_.push_back(move(Op::Load, to, from)); }
  void store(const Location& from, Place to) { out_.push_back(move(Op::Store, memory(to), from)); }

  // --- moving values
  void evict(ValueId v) {
    if (!is_dead(v) && !value(v).in_memory && slot_[v] == no_slot) {
      store(location(v), spill_place(v));
    }
    file(v).drop(v);
  }

  /// A register for a value: its preferred one if free, else any free one, else that of the value
  /// with the most distant next use.
  void place_in_register(ValueId v) {
    RegisterFile& registers = file(v);
    int r = home_[v];
    if (r == RegisterFile::none || !registers.is_free(r)) {
      const auto is_home = [&](int n) {
        return !in_mask_file(v) && std::find(homes_.begin(), homes_.end(), n) != homes_.end();
      };
      r = registers.find_free(is_home);
    }
    if (r == RegisterFile::none) {
      // Prefers to evict values that are in memory.
      r = registers.find_victim([&](ValueId other) {
        return std::uint64_t{next_use(other)} * 2 + (value(other).in_memory ? 64 : 0);
      });
      evict(registers.holder(r));
    }
    registers.put(v, r);
    registers.pin(r, true);
  }

  Location in_any_register(ValueId v) {
    if (!in_register(v)) {
      place_in_register(v);
      load(location(v), memory(place_of(v)));
    }
    const Location l = location(v);
    file(v).pin(l.number, true);
    return l;
  }
  /// In its register, or where it is in memory. AVX2 has no embedded broadcasts.
  Location anywhere(ValueId v) {
    if (in_register(v)) return in_any_register(v);
    const Place place = place_of(v);
    if (place.broadcast && !target_.avx512) return in_any_register(v);
    if (!is_dead(v) && next_use(v) - position_ <= load_within &&
        vectors_.find_free([](int) { return false; }) != RegisterFile::none) {
      return in_any_register(v);
    }
    return memory(place);
  }

  /// The result reuses the register of an operand with no further use.
  bool take(ValueId result, ValueId operand) {
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
  void release(ValueId v) {
    file(v).drop(v);
    if (slot_[v] == no_slot) return;
    free_slots_.push_back(slot_[v]);
    slot_[v] = no_slot;
  }
  /// For an instruction that reads all operands before it writes.
  Location define(const Operation& o) {
    const int home = home_[o.to];
    const bool at_home = home != RegisterFile::none && vectors_.is_free(home);
    bool taken = false;
    for (const ValueId v : {o.in[0], o.in[1], o.in[2], o.mask}) {
      taken = taken || (!at_home && take(o.to, v));
    }
    if (!taken) place_in_register(o.to);
    return location(o.to);
  }
  /// For one that changes `old`: its register if it dies here, else a copy.
  Location define_over(const Operation& o, ValueId old) {
    const bool stays = !dies(old);
    const Location from = stays ? anywhere(old) : Location{};
    if (stays || !take(o.to, old)) {
      place_in_register(o.to);
      load(location(o.to), from);
    }
    return location(o.to);
  }

  // --- operations
  void operation(const Operation& o) {
    each_operand(o, [&](ValueId v) {
      while (next_[v] < uses_[v].size() && uses_[v][next_[v]] <= position_) ++next_[v];
      if (in_register(v)) file(v).pin(file(v).where(v), true);
    });
    choose(o);
    each_operand(o, [&](ValueId v) {
      if (v != o.to && is_dead(v)) release(v);
    });
    vectors_.unpin_all();
    masks_.unpin_all();
    if (o.to != no_value && is_dead(o.to)) release(o.to);
  }

  void choose(const Operation& o) {
    Instruction i;
    i.op = o.op;
    i.detail = o.detail;
    i.rounding = o.rounding;
    if (o.mask != no_value) {
      i.mask = static_cast<std::int8_t>(in_any_register(o.mask).number);
      i.zeroing = o.otherwise == no_value && value(o.to).type == Type::Vector;
    }
    switch (o.op) {
      case Op::Load:
        i.a = memory(o.place);
        i.to = define(o);
        break;
      case Op::Store:
        i.a = in_any_register(o.in[0]);
        i.to = memory(o.place);
        break;
      case Op::Fma:
        multiply_add(o, i);
        break;
      case Op::Ternary:
        i.b = in_any_register(o.in[1]);
        i.c = anywhere(o.in[2]);
        i.to = define_over(o, o.in[0]);
        break;
      case Op::Select:
        i.a = in_any_register(o.in[0]);
        i.c = in_any_register(o.in[2]);
        i.b = anywhere(o.in[1]);
        i.to = define(o);
        break;
      case Op::Collect:
        i.a = in_any_register(o.in[0]);
        break;
      case Op::Gather:
        i.a = in_any_register(o.in[0]);
        i.b = memory(o.place);
        place_in_register(o.to);  // not that of the numbers
        i.to = location(o.to);
        break;
      case Op::Append:
        // The entry is rarely needed.
        i.a = in_any_register(o.in[0]);
        i.b = in_register(o.in[1]) ? in_any_register(o.in[1]) : memory(place_of(o.in[1]));
        i.to = memory(o.place);
        break;
      default:
        plain(o, i);
    }
    out_.push_back(i);
  }

  void plain(const Operation& o, Instruction& i) {
    ValueId first = o.in[0], second = o.in[1];
    if (second == no_value) {
      const bool shift = o.op >= Op::ShiftLeft && o.op <= Op::ShiftArith;
      const bool memory_too = value(first).type == Type::Vector && o.op != Op::LanesToMask &&
                              o.op != Op::NotFinite && o.rounding == Rounding::Current &&
                              (target_.avx512 || !shift);
      i.a = memory_too ? anywhere(first) : in_any_register(first);
      i.to = define(o);
      return;
    }
    if (commutes(o.op) && !in_register(first)) std::swap(first, second);
    i.a = in_any_register(first);
    const bool memory_too = o.rounding == Rounding::Current && !in_mask_file(second);
    i.b = memory_too ? anywhere(second) : in_any_register(second);
    i.to = o.otherwise == no_value ? define(o) : define_over(o, o.otherwise);
  }

  /// Overwrites the addend if it dies, else a factor that dies. One operand may be in memory.
  void multiply_add(const Operation& o, Instruction& i) {
    ValueId x = o.in[0], y = o.in[1];
    const ValueId z = o.in[2];
    const bool rounded = o.rounding != Rounding::Current;
    const auto last = [&](ValueId v) { return rounded ? in_any_register(v) : anywhere(v); };
    if (dies(z) || o.otherwise != no_value) {
      if (!in_register(x)) std::swap(x, y);
      i.a = in_any_register(x);
      i.b = last(y);
      i.to = define_over(o, z);
      return;
    }
    if (!dies(x)) std::swap(x, y);
    if (dies(x)) {
      if (rounded || in_register(y) || !in_register(z)) {
        i.form = FmaForm::Form213;
        i.a = in_any_register(y);
        i.b = last(z);
      } else {
        i.form = FmaForm::Form132;
        i.b = anywhere(y);
        i.a = in_any_register(z);
      }
      i.to = define_over(o, x);
      return;
    }
    // Nothing dies: the result begins as a copy, if possible of an operand that must be loaded
    // anyway.
    if (in_register(z) && !in_register(x)) std::swap(x, y);
    if (in_register(z) && !in_register(y)) {
      i.form = FmaForm::Form213;
      i.a = in_any_register(x);
      i.b = last(z);
      i.to = define_over(o, y);
      return;
    }
    if (!in_register(x)) std::swap(x, y);
    i.a = in_any_register(x);
    i.b = last(y);
    i.to = define_over(o, z);
  }

  // --- the loop
  void enter() {
    for (const Carried& c : block_.carried) {
      const int r = vectors_.find_free([](int) { return false; });
      load(vector(r), memory(c.place));
      homes_.push_back(r);
      if (home_[c.out] == RegisterFile::none) home_[c.out] = r;
      if (!uses_[c.in].empty()) vectors_.put(c.in, r);
      vectors_.pin(r, true);  // reserved until all carried values have a register
    }
    vectors_.unpin_all();
  }

  /// At the end of a pass every carried value moves to the register where the next pass expects it.
  void restore() {
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
      auto next = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
        return !is_read(m.to) && in_register(m.value);
      });
      if (next == moves.end()) {
        next =
            std::find_if(moves.begin(), moves.end(), [&](const Move& m) { return !is_read(m.to); });
      }
      if (next == moves.end()) {  // a cycle: spill one value
        const ValueId aside = moves.front().value;
        store(location(aside), spill_place(aside));
        vectors_.drop(aside);
        continue;
      }
      const Location from =
          in_register(next->value) ? location(next->value) : memory(place_of(next->value));
      load(vector(next->to), from);
      moves.erase(next);
    }
  }

  const Block& block_;
  VectorTarget target_;
  SpillArea& spills_;
  RegisterFile vectors_, masks_;
  std::vector<std::vector<std::uint32_t>> uses_;  ///< by value: positions
  std::vector<std::uint32_t> next_;               ///< by value: index of its next use
  std::vector<std::int32_t> slot_;                ///< by value: of the spill area
  std::vector<int> home_;                         ///< by value: preferred register
  std::vector<int> homes_;                        ///< by carried value
  std::vector<std::int32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::uint32_t position_ = 0;
  std::vector<Instruction> out_;
  AllocatedBlock made_;
};

}  // namespace

AllocatedBlock allocate(const Block& block, VectorTarget target, RegisterLimits limits,
                        SpillArea& spills) {
  return Allocator(block, target, limits, spills).run();
}

}  // namespace gdr::jit
