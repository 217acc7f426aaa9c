// Emits one segment: decides what is in which register, loads, spills and stores.
#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "emulator/engine/native/x86/emit.hpp"

namespace gdr::native {

/// A vector operand: a register, or memory (AVX-512: perhaps one word of it, for all lanes).
class VectorPlace {
 public:
  VectorPlace(const Xbyak::Xmm& r) : place_(r) {}
  VectorPlace(const Xbyak::Address& m) : place_(m) {}
  bool is(const Xbyak::Xmm& r) const {
    const auto* own = std::get_if<Xbyak::Xmm>(&place_);
    return own != nullptr && own->getIdx() == r.getIdx();
  }
  bool is_broadcast() const {
    const auto* own = std::get_if<Xbyak::Address>(&place_);
    return own != nullptr && own->isBroadcast();
  }
  const Xbyak::Address& address() const { return std::get<Xbyak::Address>(place_); }
  operator const Xbyak::Operand&() const {
    if (const auto* own = std::get_if<Xbyak::Xmm>(&place_)) return *own;
    return std::get<Xbyak::Address>(place_);
  }

 private:
  std::variant<Xbyak::Xmm, Xbyak::Address> place_;
};

/// Instructions of one shape.
using OneOperand = void (*)(Xbyak::CodeGenerator&, const Xbyak::Xmm& to, const Xbyak::Operand& a);
using TwoOperands = void (*)(Xbyak::CodeGenerator&, const Xbyak::Xmm& to, const Xbyak::Xmm& a,
                             const Xbyak::Operand& b);

class SegmentEmitter {
 public:
  SegmentEmitter(FunctionContext& c, const Segment& s, bool is_loop, bool in_place);

  void straight() {
    run_ops();
    store_leaves();
    finish();
  }
  void loop();

 private:
  using Value = std::uint32_t;

  // The last register of each kind is for moves and short-lived values.
  unsigned vector_registers() const { return c_.wide() ? 31 : 15; }
  unsigned scratch_number() const { return vector_registers(); }
  Xbyak::Xmm vector(int n) const {
    if (c_.wide()) return Xbyak::Zmm(n);
    return Xbyak::Ymm(n);
  }
  Xbyak::Xmm scratch() const { return vector(static_cast<int>(scratch_number())); }
  static Xbyak::Opmask mask_register(int n) { return Xbyak::Opmask(n); }
  static Xbyak::Opmask scratch_mask() { return Xbyak::Opmask(7); }

  // --- values
  bool is_shared(std::uint32_t n) const {
    const NodeOp op = g_[ref_to(n)].op;
    return op == NodeOp::Constant || op == NodeOp::Source || op == NodeOp::Uniform;
  }
  Value value_of(Ref r, unsigned copy) const {
    const std::uint32_t n = node_of(r);
    return is_shared(n) ? n : (copy + 1) * nodes_ + n;
  }
  const Node& node(Value v) const { return g_[ref_to(v % nodes_)]; }
  unsigned copy_of(Value v) const { return v < nodes_ ? 0 : v / nodes_ - 1; }
  bool in_mask_register(Value v) const { return c_.wide() && node(v).kind == Kind::Mask; }
  RegisterFile& file(Value v) { return in_mask_register(v) ? masks_ : vectors_; }
  std::uint32_t next_use(Value v) const {
    return use_at_[v] < uses_[v].size() ? uses_[v][use_at_[v]] : RegisterFile::never;
  }
  bool is_dead(Value v) const { return next_use(v) == RegisterFile::never; }

  // --- memory
  std::optional<std::uint32_t> carried_number(const Node& n) const;
  std::int32_t item_offset(unsigned copy, std::uint32_t offset) const {
    return static_cast<std::int32_t>(copy * c_.kernel.layout.bytes() + offset);
  }
  Xbyak::Address carried_place(const Xbyak::Reg64& base, unsigned copy,
                               std::uint32_t number) const {
    return a_.ptr[base + item_offset(copy, number * c_.kernel.layout.vector_bytes)];
  }
  Xbyak::Address leaf_place(Value v);
  bool is_broadcast(Value v) const {
    const NodeOp op = node(v).op;
    return op == NodeOp::Source || op == NodeOp::Uniform;
  }
  Xbyak::Address spill_place(Value v);

  // --- moving values
  int allocate(Value v, int hint);
  void load(Value v, int r);
  void broadcast(const Xbyak::Xmm& to, const Xbyak::Address& from);
  void load_mask(Value v, int r);
  void spill(Value v);
  Xbyak::Xmm in_vector(Value v);
  Xbyak::Opmask in_mask(Value v);
  VectorPlace in_place(Value v);

  // --- operations
  void choose_resident();
  void index_uses();
  void note_use(Ref r, unsigned copy, std::uint32_t position);
  void run_ops();
  void emit_operation(const MachineOp& op, unsigned copy);
  void run_op(const MachineOp& op, unsigned copy);
  void use_operands(const MachineOp& op, unsigned copy);
  // emit_operation.cpp, emit_bits.cpp: each leaves its result in the register of `to`
  void emit_vector(const MachineOp& op, unsigned copy);
  void emit_fma(const MachineOp& op, unsigned copy);
  void move(const Xbyak::Xmm& to, const VectorPlace& from);
  void emit_select(const MachineOp& op, unsigned copy);
  void emit_extreme(const MachineOp& op, unsigned copy);
  void emit_shift(const MachineOp& op, unsigned copy);
  void emit_integer_extreme(const MachineOp& op, unsigned copy);
  void emit_round(const MachineOp& op, unsigned copy);
  void emit_compare(const MachineOp& op, unsigned copy);
  void emit_compare_wide(const MachineOp& op, unsigned copy);
  void emit_compare_narrow(const MachineOp& op, unsigned copy);
  void emit_both(const MachineOp& op, unsigned copy);
  template <typename To>
  void compare_numbers(const To& to, const Xbyak::Xmm& a, const Xbyak::Operand& b,
                       std::uint8_t predicate);
  void compare_integers(const Xbyak::Opmask& to, const Xbyak::Xmm& a, const Xbyak::Operand& b,
                        std::uint8_t predicate, bool with_sign);
  void blend(const Xbyak::Xmm& to, const Xbyak::Xmm& no, const Xbyak::Operand& yes,
             const Xbyak::Xmm& mask);
  Xbyak::Xmm define(const MachineOp& op, unsigned copy, Ref reuse = no_ref,
                    bool keep_operands = false);
  Xbyak::Opmask define_mask(const MachineOp& op, unsigned copy);
  Xbyak::Opmask mask_for(Ref r, unsigned copy);
  bool effective(Ref r) const { return negated(r) != code_.inverted[node_of(r)]; }
  Xbyak::Address constant(Kind kind, std::uint64_t bits);
  template <typename Choice>
  Choice pick(Choice of_double, Choice of_float) const {
    return c_.floats() ? of_float : of_double;
  }

  void store(const Store& store, unsigned copy);
  void store_leaves();
  void store_vector(Value v, bool inverted, const Xbyak::Address& to);
  void enter_loop();
  Ref find_input(std::uint32_t slot) const;
  void restore_resident();
  void finish() {
    c_.spill_bytes = std::max(c_.spill_bytes, spill_count_ * c_.kernel.layout.vector_bytes);
  }
  FunctionContext& c_;
  Xbyak::CodeGenerator& a_;
  const Segment& s_;
  const Graph& g_;
  bool is_loop_;
  Xbyak::Reg64 store_base_;
  std::uint32_t nodes_, values_;
  RegisterFile vectors_, masks_;
  std::vector<bool> resident_slot_;     ///< by input slot
  std::vector<bool> resident_carried_;  ///< by carried number
  MachineCode code_;
  std::vector<std::pair<std::uint32_t, unsigned>> sequence_;  ///< operation, copy
  std::vector<std::vector<std::uint32_t>> uses_;              ///< by value: positions
  std::vector<std::size_t> use_at_;
  std::vector<int> spilled_;  ///< by value: place in the frame
  std::vector<int> home_;     ///< by value: register that it should end in
  std::vector<int> homes_;    ///< registers of the resident values, in the order of the stores
  std::uint32_t spill_count_ = 0;
  std::uint32_t position_ = 0;
  std::map<std::uint32_t, std::vector<const Store*>> stores_of_;  ///< by node
};

}  // namespace gdr::native
