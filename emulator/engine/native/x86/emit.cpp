#include "emulator/engine/native/x86/emit.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/engine/native/x86/segment_emitter.hpp"

namespace gdr::native {

using Xbyak::Address;
using Xbyak::Opmask;
using Xbyak::Xmm;

void ConstantPool::embed(Xbyak::CodeGenerator& a, Xbyak::Label& label, Target target,
                         const ItemLayout& layout) const {
  std::vector<std::uint8_t> bytes(std::size_t{count_} * layout.vector_bytes);
  for (const auto& [key, number] : known_) {
    std::uint8_t* to = bytes.data() + std::size_t{number} * layout.vector_bytes;
    for (std::uint32_t lane = 0; lane < target.lanes(); ++lane) {
      const Node constant{NodeOp::Constant, key.first, 0, no_ref, no_ref, no_ref, key.second};
      const std::uint64_t word = constant_lane(constant, target.precision);
      std::memcpy(to + lane * target.lane_bytes(), &word, target.lane_bytes());
    }
  }
  a.align(64);
  a.L(label);
  a.db(bytes.data(), bytes.size());
}

// --- which values, used where

SegmentEmitter::SegmentEmitter(FunctionContext& c, const Segment& s, bool is_loop, bool in_place)
    : c_(c),
      a_(c.a),
      s_(s),
      g_(s.graph),
      is_loop_(is_loop),
      store_base_(in_place ? c.carried : c.next),
      nodes_(static_cast<std::uint32_t>(s.graph.size())),
      values_((c.copies + 1) * nodes_),
      vectors_(0, vector_registers(), values_),
      masks_(1, 7, values_) {
  choose_resident();
  code_ = make_machine_code(s, c.target, resident_slot_);
  index_uses();
}

std::optional<std::uint32_t> SegmentEmitter::carried_number(const Node& n) const {
  if (n.op != NodeOp::Input) return std::nullopt;
  const std::uint32_t slot = LeafKey::unpack(n.bits).place;
  const auto& slots = c_.kernel.carried_slot;
  const auto found = std::find(slots.begin(), slots.end(), slot);
  if (found == slots.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - slots.begin());
}

/// In a loop, carried values stay in registers, as many as leave room for the work itself.
void SegmentEmitter::choose_resident() {
  resident_slot_.assign(c_.kernel.inputs.size(), false);
  resident_carried_.assign(c_.kernel.carried_slot.size(), false);
  if (!is_loop_) return;
  const unsigned most = vector_registers() * 2 / 3 / c_.copies;
  unsigned count = 0;
  for (const Store& store : s_.stores) {
    if (store.take == Take::Mask || count == most) continue;
    resident_carried_[store.slot] = true;
    resident_slot_[c_.kernel.carried_slot[store.slot]] = true;
    ++count;
  }
}

void SegmentEmitter::note_use(Ref r, unsigned copy, std::uint32_t position) {
  if (r == no_ref) return;
  auto& list = uses_[value_of(r, copy)];
  if (list.empty() || list.back() != position) list.push_back(position);
}

void SegmentEmitter::index_uses() {
  for (unsigned first = 0; first < c_.copies; first += c_.interleave) {
    for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
      for (unsigned u = first; u < std::min(first + c_.interleave, c_.copies); ++u) {
        sequence_.emplace_back(k, u);
      }
    }
  }
  uses_.resize(values_);
  use_at_.assign(values_, 0);
  spilled_.assign(values_, -1);
  home_.assign(values_, RegisterFile::none);
  for (std::uint32_t p = 0; p < sequence_.size(); ++p) {
    const auto [k, u] = sequence_[p];
    const MachineOp& op = code_.ops[k];
    for (const Ref r : {op.in[0], op.in[1], op.in[2], op.mask, op.otherwise}) note_use(r, u, p);
  }
  const auto end = static_cast<std::uint32_t>(sequence_.size());
  for (const Store& store : s_.stores) {
    const Ref value = value_behind(g_, store.value);
    const bool stays = is_loop_ && resident_carried_[store.slot];
    if (is_leaf(g_[value].op) || stays) {
      for (unsigned u = 0; u < c_.copies; ++u) note_use(value, u, end);
    } else {
      stores_of_[node_of(value)].push_back(&store);
    }
  }
}

// --- where values are

Address SegmentEmitter::leaf_place(Value v) {
  const Node& n = node(v);
  const LeafKey key = n.op == NodeOp::Constant ? LeafKey{} : LeafKey::unpack(n.bits);
  const auto word = [&](std::uint32_t number) {
    return static_cast<std::int32_t>(number * c_.word_bytes());
  };
  switch (n.op) {
    case NodeOp::Constant:
      return constant(n.kind, n.bits);
    case NodeOp::Source:
      return a_.ptr[c_.source + word(c_.source_words.number(key)) -
                    static_cast<std::int32_t>(key.delay * c_.group_bytes())];
    case NodeOp::Uniform:
      return a_.ptr[c_.uniforms + word(c_.uniform_words.number(key))];
    default:
      break;
  }
  const unsigned copy = copy_of(v);
  if (const auto number = carried_number(n)) return carried_place(c_.carried, copy, *number);
  return a_.ptr[c_.items + item_offset(copy, c_.kernel.layout.input(key.place))];
}

Address SegmentEmitter::constant(Kind kind, std::uint64_t bits) {
  return a_.ptr[c_.constants + c_.pool.offset(kind, bits, c_.kernel.layout)];
}

Address SegmentEmitter::spill_place(Value v) {
  if (spilled_[v] < 0) spilled_[v] = static_cast<int>(spill_count_++);
  return a_.ptr[c_.spills + spilled_[v] * static_cast<int>(c_.kernel.layout.vector_bytes)];
}

// --- moving them

void SegmentEmitter::spill(Value v) {
  RegisterFile& registers = file(v);
  const int r = registers.where(v);
  const bool is_resident = is_loop_ && carried_number(node(v)).has_value() &&
                           resident_slot_[LeafKey::unpack(node(v).bits).place];
  const bool elsewhere = (is_leaf(node(v).op) && !is_resident) || spilled_[v] >= 0;
  if (!is_dead(v) && !elsewhere) {
    if (in_mask_register(v)) {
      a_.kmovw(spill_place(v), mask_register(r));
    } else {
      a_.vmovapd(spill_place(v), vector(r));
    }
  }
  registers.drop(v);
}

/// A register for a value: the one it should end in if that is free, else any, else the one whose
/// value is needed latest.
int SegmentEmitter::allocate(Value v, int hint) {
  RegisterFile& registers = file(v);
  if (hint != RegisterFile::none && registers.is_free(hint)) {
    registers.put(v, hint);
    return hint;
  }
  const auto is_home = [&](int r) {
    return !in_mask_register(v) && std::find(homes_.begin(), homes_.end(), r) != homes_.end();
  };
  int r = registers.find_free(is_home);
  if (r == RegisterFile::none) {
    // A leaf can be read again where it came from: of two that are needed late, it goes first.
    r = registers.find_victim([&](Value other) {
      return std::uint64_t{next_use(other)} * 2 + (is_leaf(node(other).op) ? 64 : 0);
    });
    spill(registers.holder(r));
  }
  registers.put(v, r);
  return r;
}

void SegmentEmitter::load(Value v, int r) {
  const Xmm to = vector(r);
  if (spilled_[v] >= 0) {
    a_.vmovapd(to, spill_place(v));
  } else if (is_broadcast(v)) {
    broadcast(to, leaf_place(v));
  } else {
    a_.vmovapd(to, leaf_place(v));
  }
}

void SegmentEmitter::broadcast(const Xmm& to, const Address& from) {
  // The instructions want to be sure of the register's length.
  const auto to_number = static_cast<int>(to.getIdx());
  const Xbyak::Ymm target = c_.wide() ? Xbyak::Ymm(Xbyak::Zmm(to_number)) : Xbyak::Ymm(to_number);
  if (c_.floats()) {
    a_.vbroadcastss(target, from);
  } else {
    a_.vbroadcastsd(target, from);
  }
}

void SegmentEmitter::load_mask(Value v, int r) {
  if (spilled_[v] >= 0) {
    a_.kmovw(mask_register(r), spill_place(v));
    return;
  }
  a_.vmovapd(scratch(), leaf_place(v));
  if (c_.floats()) {
    a_.vpmovd2m(mask_register(r), scratch());
  } else {
    a_.vpmovq2m(mask_register(r), scratch());
  }
}

Xmm SegmentEmitter::in_vector(Value v) {
  int r = vectors_.where(v);
  if (r == RegisterFile::none) {
    r = allocate(v, home_[v]);
    load(v, r);
  }
  vectors_.pin(r, true);
  return vector(r);
}

Opmask SegmentEmitter::in_mask(Value v) {
  int r = masks_.where(v);
  if (r == RegisterFile::none) {
    r = allocate(v, RegisterFile::none);
    load_mask(v, r);
  }
  masks_.pin(r, true);
  return mask_register(r);
}

/// A register if the value is in one, else where it is in memory; what must be broadcast is, by the
/// operation itself (AVX-512) or into a register.
VectorPlace SegmentEmitter::in_place(Value v) {
  const int r = vectors_.where(v);
  if (r != RegisterFile::none) {
    vectors_.pin(r, true);
    return vector(r);
  }
  if (spilled_[v] >= 0) return spill_place(v);
  if (!is_broadcast(v)) return leaf_place(v);
  if (!c_.wide()) return in_vector(v);
  return a_.ptr_b[leaf_place(v).getRegExp()];
}

// --- operations and stores

void SegmentEmitter::use_operands(const MachineOp& op, unsigned copy) {
  for (const Ref r : {op.in[0], op.in[1], op.in[2], op.mask, op.otherwise}) {
    if (r == no_ref) continue;
    const Value v = value_of(r, copy);
    while (use_at_[v] < uses_[v].size() && uses_[v][use_at_[v]] <= position_) ++use_at_[v];
  }
}

void SegmentEmitter::run_op(const MachineOp& op, unsigned copy) {
  emit_operation(op, copy);
  // What was needed here for the last time leaves its register, if the result has not taken it.
  const Value result = value_of(ref_to(op.node), copy);
  for (const Ref r : {op.in[0], op.in[1], op.in[2], op.mask, op.otherwise}) {
    if (r == no_ref) continue;
    const Value v = value_of(r, copy);
    if (is_dead(v) && v != result) file(v).drop(v);
  }
  vectors_.unpin_all();
  masks_.unpin_all();
  if (const auto found = stores_of_.find(op.node); found != stores_of_.end()) {
    for (const Store* to : found->second) store(*to, copy);
  }
  if (is_dead(result)) file(result).drop(result);
}

void SegmentEmitter::run_ops() {
  for (position_ = 0; position_ < sequence_.size(); ++position_) {
    const auto [k, copy] = sequence_[position_];
    run_op(code_.ops[k], copy);
  }
}

void SegmentEmitter::store_vector(Value v, bool inverted, const Address& to) {
  if (!in_mask_register(v)) {
    Xmm from = in_vector(v);
    if (inverted) {
      a_.vxorpd(scratch(), from, constant(Kind::Mask, ~std::uint64_t{0}));
      from = scratch();
    }
    a_.vmovapd(to, from);
    return;
  }
  Opmask from = in_mask(v);
  if (inverted) {
    a_.knotw(scratch_mask(), from);
    from = scratch_mask();
  }
  if (c_.floats()) {
    a_.vpmovm2d(scratch(), from);
  } else {
    a_.vpmovm2q(scratch(), from);
  }
  a_.vmovapd(to, scratch());
}

void SegmentEmitter::store(const Store& store, unsigned copy) {
  const Ref value = value_behind(g_, store.value);
  const Address to = store.area == Store::Area::Output
                         ? a_.ptr[c_.items + item_offset(copy, c_.kernel.layout.output(store.slot))]
                         : carried_place(store_base_, copy, store.slot);
  store_vector(value_of(value, copy), g_[value].kind == Kind::Mask && effective(value), to);
  vectors_.unpin_all();
  masks_.unpin_all();
}

/// Values that no operation makes.
void SegmentEmitter::store_leaves() {
  for (const Store& s : s_.stores) {
    const Ref value = value_behind(g_, s.value);
    if (!is_leaf(g_[value].op) || (is_loop_ && resident_carried_[s.slot])) continue;
    for (unsigned u = 0; u < c_.copies; ++u) store(s, u);
  }
}

// --- the loop

void SegmentEmitter::enter_loop() {
  for (const Store& s : s_.stores) {
    if (!resident_carried_[s.slot]) continue;
    const std::uint32_t slot = c_.kernel.carried_slot[s.slot];
    const Ref input = find_input(slot);
    for (unsigned u = 0; u < c_.copies; ++u) {
      const int r = vectors_.find_free([](int) { return false; });
      a_.vmovapd(vector(r), carried_place(c_.carried, u, s.slot));
      homes_.push_back(r);
      const Value next = value_of(value_behind(g_, s.value), u);
      if (home_[next] == RegisterFile::none) home_[next] = r;
      if (input != no_ref) {
        vectors_.put(value_of(input, u), r);
      } else {
        vectors_.pin(r, true);  // taken until all have one
      }
    }
  }
  vectors_.unpin_all();
}

Ref SegmentEmitter::find_input(std::uint32_t slot) const {
  const LeafKey key{c_.kernel.inputs[slot], slot, 0};
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    const Node& node = g_[ref_to(n)];
    if (node.op == NodeOp::Input && node.bits == key.packed()) return ref_to(n);
  }
  return no_ref;
}

/// At the end of a pass every carried value moves to the register where the next pass expects it.
void SegmentEmitter::restore_resident() {
  struct Move {
    Value value;
    int to;
  };
  std::vector<Move> moves;
  std::size_t home = 0;
  for (const Store& s : s_.stores) {
    if (!resident_carried_[s.slot]) continue;
    for (unsigned u = 0; u < c_.copies; ++u, ++home) {
      const Value v = value_of(value_behind(g_, s.value), u);
      if (vectors_.where(v) != homes_[home]) moves.push_back({v, homes_[home]});
    }
  }
  // First what goes from register to register, as soon as nothing else reads the target.
  const auto is_read = [&](int r) {
    return std::any_of(moves.begin(), moves.end(),
                       [&](const Move& m) { return vectors_.where(m.value) == r; });
  };
  while (!moves.empty()) {
    auto next = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
      return !is_read(m.to) && vectors_.where(m.value) != RegisterFile::none;
    });
    if (next == moves.end()) {
      next =
          std::find_if(moves.begin(), moves.end(), [&](const Move& m) { return !is_read(m.to); });
    }
    if (next == moves.end()) {  // a ring: one value steps aside
      const Value aside = moves.front().value;
      const int from = vectors_.where(aside);
      a_.vmovapd(spill_place(aside), vector(from));
      vectors_.drop(aside);
      continue;
    }
    const int from = vectors_.where(next->value);
    if (from == RegisterFile::none) {
      load(next->value, next->to);
    } else {
      a_.vmovapd(vector(next->to), vector(from));
    }
    moves.erase(next);
  }
}

void SegmentEmitter::loop() {
  enter_loop();
  Xbyak::Label top;
  a_.align(32);
  a_.L(top);
  run_ops();
  store_leaves();
  restore_resident();
  a_.add(c_.source, c_.group_bytes());
  const bool in_memory = std::any_of(s_.stores.begin(), s_.stores.end(),
                                     [&](const Store& s) { return !resident_carried_[s.slot]; });
  if (in_memory) a_.xchg(c_.carried, c_.next);
  a_.dec(c_.passes);
  a_.jnz(top, Xbyak::CodeGenerator::T_NEAR);
  std::size_t home = 0;
  for (const Store& s : s_.stores) {
    if (!resident_carried_[s.slot]) continue;
    for (unsigned u = 0; u < c_.copies; ++u) {
      a_.vmovapd(carried_place(c_.carried, u, s.slot), vector(homes_[home++]));
    }
  }
  finish();
}

void emit_straight(FunctionContext& context, const Segment& segment, bool in_place) {
  SegmentEmitter(context, segment, false, in_place).straight();
}

void emit_loop(FunctionContext& context, const Segment& segment) {
  SegmentEmitter(context, segment, true, false).loop();
}

}  // namespace gdr::native
