#include "bench/asmjit/compiler.hpp"

#include <asmjit/asmjit.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "emulator/engine/native/x86/emit.hpp"

namespace gdr::bench {
namespace {

using namespace native;
namespace x86 = asmjit::x86;
using asmjit::Operand;
using InstId = asmjit::InstId;
namespace I = asmjit::x86::Inst;

struct Binary {
  NodeOp op;
  InstId of_double, of_float;
  bool commutes;
};
constexpr std::array binary{Binary{NodeOp::Add, I::kIdVaddpd, I::kIdVaddps, true},
                            Binary{NodeOp::Sub, I::kIdVsubpd, I::kIdVsubps, false},
                            Binary{NodeOp::Mul, I::kIdVmulpd, I::kIdVmulps, true},
                            Binary{NodeOp::Divide, I::kIdVdivpd, I::kIdVdivps, false},
                            Binary{NodeOp::And, I::kIdVandpd, I::kIdVandps, true},
                            Binary{NodeOp::Or, I::kIdVorpd, I::kIdVorps, true},
                            Binary{NodeOp::Xor, I::kIdVxorpd, I::kIdVxorps, true},
                            Binary{NodeOp::IntAdd, I::kIdVpaddq, I::kIdVpaddd, true},
                            Binary{NodeOp::IntSub, I::kIdVpsubq, I::kIdVpsubd, false}};
struct Unary {
  NodeOp op;
  InstId of_double, of_float, narrow;
};
constexpr std::array unary{
    Unary{NodeOp::Sqrt, I::kIdVsqrtpd, I::kIdVsqrtps, I::kIdVsqrtps},
    Unary{NodeOp::RsqrtEstimate, I::kIdVrsqrt14pd, I::kIdVrsqrt14ps, I::kIdVrsqrtps},
    Unary{NodeOp::RecipEstimate, I::kIdVrcp14pd, I::kIdVrcp14ps, I::kIdVrcpps}};
/// By sign (FmaSign) and precision.
constexpr InstId fma213[4][2] = {{I::kIdVfmadd213pd, I::kIdVfmadd213ps},
                                 {I::kIdVfnmadd213pd, I::kIdVfnmadd213ps},
                                 {I::kIdVfmsub213pd, I::kIdVfmsub213ps},
                                 {I::kIdVfnmsub213pd, I::kIdVfnmsub213ps}};
constexpr InstId fma231[4][2] = {{I::kIdVfmadd231pd, I::kIdVfmadd231ps},
                                 {I::kIdVfnmadd231pd, I::kIdVfnmadd231ps},
                                 {I::kIdVfmsub231pd, I::kIdVfmsub231ps},
                                 {I::kIdVfnmsub231pd, I::kIdVfnmsub231ps}};
constexpr InstId fma132[4][2] = {{I::kIdVfmadd132pd, I::kIdVfmadd132ps},
                                 {I::kIdVfnmadd132pd, I::kIdVfnmadd132ps},
                                 {I::kIdVfmsub132pd, I::kIdVfmsub132ps},
                                 {I::kIdVfnmsub132pd, I::kIdVfnmsub132ps}};

constexpr std::uint8_t equal = 0x00, unordered = 0x03, not_equal = 0x04, less = 0x11,
                       not_less = 0x15;
constexpr std::uint8_t int_equal = 0, int_less = 1, int_not_equal = 4, int_not_less = 5;
constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

template <typename Row, std::size_t N>
const Row* find(const std::array<Row, N>& table, NodeOp op) {
  for (const Row& row : table)
    if (row.op == op) return &row;
  return nullptr;
}

struct Function {
  x86::Compiler& cc;
  Target target;
  const KernelCode& kernel;
  unsigned copies, interleave;
  const WordTable& source_words;
  const WordTable& uniform_words;
  AsmjitPolicy policy;
  x86::Gp items, source, uniforms, passes, spills, carried, next, constants;
  std::map<std::pair<Kind, std::uint64_t>, std::uint32_t> pool;

  bool wide() const { return target.isa == Isa::Avx512; }
  bool floats() const { return target.precision == Precision::Float; }
  std::uint32_t word_bytes() const { return floats() ? 4 : 8; }
  std::uint32_t group_bytes() const {
    return static_cast<std::uint32_t>(source_words.words.size()) * word_bytes();
  }
};

class SegmentCompiler {
 public:
  SegmentCompiler(Function& f, const Segment& s, bool is_loop, bool in_place)
      : f_(f),
        cc_(f.cc),
        s_(s),
        g_(s.graph),
        is_loop_(is_loop),
        store_base_(in_place ? f.carried : f.next),
        nodes_(static_cast<std::uint32_t>(s.graph.size())),
        registers_((f.copies + 1) * std::size_t{nodes_}),
        hoisted_(registers_.size(), false) {
    choose_resident();
    code_ = make_machine_code(s, f.target, resident_slot_);
    index_uses();
  }

  void straight() {
    run_ops();
    store_leaves();
  }

  void loop() {
    enter_loop();
    const asmjit::Label top = cc_.newLabel();
    cc_.align(asmjit::AlignMode::kCode, 32);
    cc_.bind(top);
    run_ops();
    store_leaves();
    restore_resident();
    cc_.add(f_.source, f_.group_bytes());
    if (std::any_of(s_.stores.begin(), s_.stores.end(),
                    [&](const Store& s) { return !resident_carried_[s.slot]; }))
      cc_.xchg(f_.carried, f_.next);
    cc_.dec(f_.passes);
    cc_.jnz(top);
    std::size_t home = 0;
    for (const Store& s : s_.stores) {
      if (!resident_carried_[s.slot]) continue;
      for (unsigned u = 0; u < f_.copies; ++u)
        cc_.vmovapd(carried_place(f_.carried, u, s.slot), homes_[home++]);
    }
  }

 private:
  using Value = std::uint32_t;
  static constexpr std::uint32_t never = ~std::uint32_t{0};

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
  bool in_mask_register(Value v) const { return f_.wide() && node(v).kind == Kind::Mask; }
  std::uint32_t next_use(Value v) const {
    return use_at_[v] < uses_[v].size() ? uses_[v][use_at_[v]] : never;
  }
  bool is_dead(Value v) const { return next_use(v) == never && !hoisted_[v]; }
  template <typename T>
  T pick(T of_double, T of_float) const {
    return f_.floats() ? of_float : of_double;
  }

  // --- registers
  x86::Vec new_vector() { return f_.wide() ? x86::Vec(cc_.newZmm()) : x86::Vec(cc_.newYmm()); }
  x86::KReg new_mask() { return cc_.newKw(); }
  bool in_register(Value v) const { return registers_[v].isValid(); }
  x86::Vec vector_in(Value v) const { return registers_[v].as<x86::Vec>(); }
  x86::Vec define(const MachineOp& op, unsigned copy) {
    const Value result = value_of(ref_to(op.node), copy);
    // Straight into the loop's register if nothing needs any more what it holds.
    if (const auto home = home_of_.find(result); home != home_of_.end()) {
      const x86::Vec r = homes_[home->second];
      if (is_free(r)) {
        registers_[result] = r;
        return r;
      }
    }
    const x86::Vec r = new_vector();
    registers_[result] = r;
    return r;
  }
  bool is_free(const x86::Vec& r) const {
    for (const Value v : live_in_homes_) {
      if (registers_[v].isValid() && registers_[v].id() == r.id() && next_use(v) != never)
        return false;
    }
    return true;
  }
  /// The register of an operand that dies, for the result.
  x86::Vec define_over(const MachineOp& op, unsigned copy, Value old) {
    const Value result = value_of(ref_to(op.node), copy);
    const x86::Vec r = vector_in(old);
    registers_[old] = asmjit::BaseReg();
    registers_[result] = r;
    if (std::find(live_in_homes_.begin(), live_in_homes_.end(), old) != live_in_homes_.end())
      live_in_homes_.push_back(result);
    return r;
  }
  x86::KReg define_mask(const MachineOp& op, unsigned copy) {
    const x86::KReg r = new_mask();
    registers_[value_of(ref_to(op.node), copy)] = r;
    return r;
  }

  // --- memory
  x86::Mem at(const x86::Gp& base, std::int64_t offset) const {
    return x86::ptr(base, static_cast<std::int32_t>(offset), f_.kernel.layout.vector_bytes);
  }
  x86::Mem constant(Kind kind, std::uint64_t bits) {
    const auto [place, is_new] =
        f_.pool.try_emplace({kind, bits}, static_cast<std::uint32_t>(f_.pool.size()));
    return at(f_.constants, place->second * f_.kernel.layout.vector_bytes);
  }
  std::optional<std::uint32_t> carried_number(const Node& n) const {
    if (n.op != NodeOp::Input) return std::nullopt;
    const std::uint32_t slot = LeafKey::unpack(n.bits).place;
    const auto& slots = f_.kernel.carried_slot;
    const auto found = std::find(slots.begin(), slots.end(), slot);
    if (found == slots.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - slots.begin());
  }
  x86::Mem carried_place(const x86::Gp& base, unsigned copy, std::uint32_t number) const {
    return at(base, copy * f_.kernel.layout.bytes() + number * f_.kernel.layout.vector_bytes);
  }
  bool is_broadcast(Value v) const {
    return node(v).op == NodeOp::Source || node(v).op == NodeOp::Uniform;
  }
  x86::Mem leaf_place(Value v) {
    const Node& n = node(v);
    const LeafKey key = n.op == NodeOp::Constant ? LeafKey{} : LeafKey::unpack(n.bits);
    const auto word = [&](const x86::Gp& base, std::int64_t offset) {
      return x86::ptr(base, static_cast<std::int32_t>(offset), f_.word_bytes());
    };
    switch (n.op) {
      case NodeOp::Constant:
        return constant(n.kind, n.bits);
      case NodeOp::Source:
        return word(f_.source, std::int64_t{f_.source_words.number(key)} * f_.word_bytes() -
                                   std::int64_t{key.delay} * f_.group_bytes());
      case NodeOp::Uniform:
        return word(f_.uniforms, std::int64_t{f_.uniform_words.number(key)} * f_.word_bytes());
      default:
        break;
    }
    const unsigned copy = copy_of(v);
    if (const auto number = carried_number(n)) return carried_place(f_.carried, copy, *number);
    return at(f_.items, copy * f_.kernel.layout.bytes() + f_.kernel.layout.input(key.place));
  }
  void load(Value v, const x86::Vec& to) {
    if (is_broadcast(v)) {
      cc_.emit(pick(I::kIdVbroadcastsd, I::kIdVbroadcastss), to, leaf_place(v));
    } else {
      cc_.emit(I::kIdVmovapd, to, leaf_place(v));
    }
  }
  x86::Vec in_vector(Value v) {
    if (!in_register(v)) {
      const x86::Vec r = new_vector();
      load(v, r);
      registers_[v] = r;
      loaded_.push_back(v);
    }
    return vector_in(v);
  }
  x86::KReg in_mask(Value v) {
    if (!in_register(v)) {
      const x86::Vec t = new_vector();
      cc_.emit(I::kIdVmovapd, t, leaf_place(v));
      const x86::KReg k = new_mask();
      cc_.emit(pick(I::kIdVpmovq2m, I::kIdVpmovd2m), k, t);
      registers_[v] = k;
      loaded_.push_back(v);
    }
    return registers_[v].as<x86::KReg>();
  }
  Operand in_place(Value v) {
    if (in_register(v)) return vector_in(v);
    if (f_.policy.keep != 0 && keeps(v)) return in_vector(v);
    if (!is_broadcast(v)) return leaf_place(v);
    if (!f_.wide()) return in_vector(v);
    x86::Mem m = leaf_place(v);
    m.setBroadcast(f_.floats() ? x86::Mem::Broadcast::k1To16 : x86::Mem::Broadcast::k1To8);
    return m;
  }
  /// Worth a register: it is used again soon.
  bool keeps(Value v) const {
    const std::uint32_t next = next_use(v);
    return next != never && next - position_ <= f_.policy.keep;
  }
  bool effective(Ref r) const { return negated(r) != code_.inverted[node_of(r)]; }
  x86::KReg mask_for(Ref r, unsigned copy) {
    const x86::KReg mask = in_mask(value_of(r, copy));
    if (!effective(r)) return mask;
    const x86::KReg turned = new_mask();
    cc_.knotw(turned, mask);
    return turned;
  }
  void move(const x86::Vec& to, const Operand& from) {
    if (from.isMem() && from.as<x86::Mem>().hasBroadcast()) {
      x86::Mem m = from.as<x86::Mem>();
      m.resetBroadcast();
      cc_.emit(pick(I::kIdVbroadcastsd, I::kIdVbroadcastss), to, m);
    } else {
      cc_.emit(I::kIdVmovapd, to, from);
    }
  }

  // --- use positions
  void choose_resident() {
    resident_slot_.assign(f_.kernel.inputs.size(), false);
    resident_carried_.assign(f_.kernel.carried_slot.size(), false);
    if (!is_loop_) return;
    unsigned most = (f_.wide() ? 31 : 15) * 2 / 3 / f_.copies;
    if (f_.policy.all_resident) most = ~0u;
    unsigned count = 0;
    for (const Store& store : s_.stores) {
      if (store.take == Take::Mask || count == most) continue;
      resident_carried_[store.slot] = true;
      resident_slot_[f_.kernel.carried_slot[store.slot]] = true;
      ++count;
    }
  }
  void note_use(Ref r, unsigned copy, std::uint32_t position) {
    if (r == no_ref) return;
    auto& list = uses_[value_of(r, copy)];
    if (list.empty() || list.back() != position) list.push_back(position);
  }
  void index_uses() {
    for (unsigned first = 0; first < f_.copies; first += f_.interleave)
      for (std::uint32_t k = 0; k < code_.ops.size(); ++k)
        for (unsigned u = first; u < std::min(first + f_.interleave, f_.copies); ++u)
          sequence_.emplace_back(k, u);
    uses_.resize(registers_.size());
    use_at_.assign(registers_.size(), 0);
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
        for (unsigned u = 0; u < f_.copies; ++u) note_use(value, u, end);
      } else {
        stores_of_[node_of(value)].push_back(&store);
      }
    }
  }
  void use_operands(const MachineOp& op, unsigned copy) {
    for (const Ref r : {op.in[0], op.in[1], op.in[2], op.mask, op.otherwise}) {
      if (r == no_ref) continue;
      const Value v = value_of(r, copy);
      while (use_at_[v] < uses_[v].size() && uses_[v][use_at_[v]] <= position_) ++use_at_[v];
    }
  }

  // --- operations
  void run_ops() {
    for (position_ = 0; position_ < sequence_.size(); ++position_) {
      const auto [k, copy] = sequence_[position_];
      const MachineOp& op = code_.ops[k];
      use_operands(op, copy);
      emit(op, copy);
      // A leaf that is not needed soon is read again later.
      std::erase_if(loaded_, [&](Value v) {
        if (hoisted_[v]) return true;
        const std::uint32_t next = next_use(v);
        if (next != never && next - position_ <= std::max(f_.policy.keep, 1u)) return false;
        registers_[v] = asmjit::BaseReg();
        return true;
      });
      if (const auto found = stores_of_.find(op.node); found != stores_of_.end())
        for (const Store* to : found->second) store(*to, copy);
    }
  }

  void emit(const MachineOp& op, unsigned copy) {
    switch (op.op) {
      case NodeOp::Fma:
        return emit_fma(op, copy);
      case NodeOp::Select:
        return emit_select(op, copy);
      case NodeOp::Max:
      case NodeOp::Min:
        return emit_extreme(op, copy);
      case NodeOp::Round:
        return emit_round(op, copy);
      case NodeOp::ShiftLeft:
      case NodeOp::ShiftRight:
      case NodeOp::ShiftArith:
        return emit_shift(op, copy);
      case NodeOp::Negative:
      case NodeOp::IsZero:
      case NodeOp::BitsNegative:
      case NodeOp::BitsEqual:
      case NodeOp::BitsAtLeast:
        return f_.wide() ? compare_wide(op, copy) : compare_narrow(op, copy);
      case NodeOp::Both:
        return emit_both(op, copy);
      case NodeOp::SignedMax:
      case NodeOp::SignedMin:
      case NodeOp::UnsignedMax:
      case NodeOp::UnsignedMin:
        throw Unsupported("not in this comparison: larger and smaller integers");
      default:
        return emit_vector(op, copy);
    }
  }

  void emit_vector(const MachineOp& op, unsigned copy) {
    if (const Unary* one = find(unary, op.op)) {
      const Operand from = in_place(value_of(op.in[0], copy));
      const InstId id =
          !f_.wide() && f_.floats() ? one->narrow : pick(one->of_double, one->of_float);
      cc_.emit(id, define(op, copy), from);
      return;
    }
    const Binary* two = find(binary, op.op);
    Value first = value_of(op.in[0], copy), second = value_of(op.in[1], copy);
    if (two->commutes && !in_register(first)) std::swap(first, second);
    const x86::Vec a = in_vector(first);
    const Operand b = in_place(second);
    const InstId id = pick(two->of_double, two->of_float);
    if (op.mask == no_ref) {
      cc_.emit(id, define(op, copy), a, b);
      return;
    }
    const x86::KReg mask = mask_for(op.mask, copy);
    if (op.otherwise == no_ref) {
      cc_.k(mask).z().emit(id, define(op, copy), a, b);
      return;
    }
    const Value kept = value_of(op.otherwise, copy);
    const Operand old = in_place(kept);
    x86::Vec to;
    if (old.isReg() && is_dead(kept) && kept != first && kept != second) {
      to = define_over(op, copy, kept);
    } else {
      to = new_vector();
      registers_[value_of(ref_to(op.node), copy)] = to;
      move(to, old);
    }
    cc_.k(mask).emit(id, to, a, b);
  }

  void emit_fma(const MachineOp& op, unsigned copy) {
    std::array<Value, 3> v{};
    for (std::size_t k = 0; k < 3; ++k) v[k] = value_of(op.in[k], copy);
    const auto dies = [&](Value x) { return in_register(x) && is_dead(x); };
    const auto put = [&](const InstId(&form)[4][2], const x86::Vec& to, const x86::Vec& a,
                         const Operand& b) {
      const InstId id = form[op.detail & 3][f_.floats() ? 1 : 0];
      if (op.mask == no_ref) {
        cc_.emit(id, to, a, b);
      } else if (op.otherwise == no_ref) {
        cc_.k(mask_for(op.mask, copy)).z().emit(id, to, a, b);
      } else {
        cc_.k(mask_for(op.mask, copy)).emit(id, to, a, b);
      }
    };
    const bool merges = op.otherwise != no_ref;
    if (dies(v[2]) || merges) {
      if (!in_register(v[0])) std::swap(v[0], v[1]);
      const x86::Vec a = in_vector(v[0]);
      const Operand b = in_place(v[1]);
      const Operand c = in_place(v[2]);
      const bool over = c.isReg() && is_dead(v[2]);
      x86::Vec to;
      if (over) {
        to = define_over(op, copy, v[2]);
      } else {
        to = new_vector();
        registers_[value_of(ref_to(op.node), copy)] = to;
        move(to, c);
      }
      return put(fma231, to, a, b);
    }
    if (!dies(v[0])) std::swap(v[0], v[1]);
    if (dies(v[0]) && v[0] != v[1] && v[0] != v[2]) {
      if (in_register(v[1]) || !in_register(v[2])) {
        const x86::Vec b = in_vector(v[1]);
        const Operand c = in_place(v[2]);
        return put(fma213, define_over(op, copy, v[0]), b, c);
      }
      const Operand b = in_place(v[1]);
      const x86::Vec c = in_vector(v[2]);
      return put(fma132, define_over(op, copy, v[0]), c, b);
    }
    if (in_register(v[2]) && !in_register(v[0])) std::swap(v[0], v[1]);
    if (in_register(v[2]) && !in_register(v[1])) {
      const x86::Vec a = in_vector(v[0]);
      const Operand b = in_place(v[1]);
      const Operand c = in_place(v[2]);
      const x86::Vec to = define(op, copy);
      move(to, b);
      return put(fma213, to, a, c);
    }
    if (!in_register(v[0])) std::swap(v[0], v[1]);
    const x86::Vec a = in_vector(v[0]);
    const Operand b = in_place(v[1]);
    const Operand c = in_place(v[2]);
    const x86::Vec to = new_vector();
    registers_[value_of(ref_to(op.node), copy)] = to;
    move(to, c);
    put(fma231, to, a, b);
  }

  void emit_select(const MachineOp& op, unsigned copy) {
    Ref yes = op.in[1], no = op.in[2];
    if (effective(op.in[0])) std::swap(yes, no);
    if (f_.wide()) {
      // The allocator takes a masked result for one that is read as well, vblendmpd's too, and
      // would carry it around the loop: so lanes are moved over those of `no`.
      const x86::KReg mask = in_mask(value_of(op.in[0], copy));
      const Value vn = value_of(no, copy);
      const Operand y = in_place(value_of(yes, copy));
      const Operand n = in_place(vn);
      x86::Vec to;
      if (n.isReg() && is_dead(vn) && no != yes) {
        to = define_over(op, copy, vn);
      } else {
        to = new_vector();
        registers_[value_of(ref_to(op.node), copy)] = to;
        move(to, n);
      }
      if (y.isMem() && y.as<x86::Mem>().hasBroadcast()) {
        x86::Mem m = y.as<x86::Mem>();
        m.resetBroadcast();
        cc_.k(mask).emit(pick(I::kIdVbroadcastsd, I::kIdVbroadcastss), to, m);
      } else {
        cc_.k(mask).emit(pick(I::kIdVmovapd, I::kIdVmovaps), to, y);
      }
      return;
    }
    const x86::Vec mask = in_vector(value_of(op.in[0], copy));
    const auto is_zero = [&](Ref r) { return g_.is_constant(r) && g_[r].bits == 0; };
    if (is_zero(no) || is_zero(yes)) {
      const Operand other = in_place(value_of(is_zero(no) ? yes : no, copy));
      cc_.emit(is_zero(no) ? I::kIdVandpd : I::kIdVandnpd, define(op, copy), mask, other);
      return;
    }
    const x86::Vec n = in_vector(value_of(no, copy));
    const Operand y = in_place(value_of(yes, copy));
    cc_.emit(pick(I::kIdVblendvpd, I::kIdVblendvps), define(op, copy), n, y, mask);
  }

  void emit_extreme(const MachineOp& op, unsigned copy) {
    const x86::Vec a = in_vector(value_of(op.in[0], copy));
    const Operand b = in_place(value_of(op.in[1], copy));
    const bool max = op.op == NodeOp::Max;
    const InstId id = max ? pick(I::kIdVmaxpd, I::kIdVmaxps) : pick(I::kIdVminpd, I::kIdVminps);
    const bool once = g_.is_constant(op.in[0]);
    const x86::Vec to = once ? define(op, copy) : new_vector();
    registers_[value_of(ref_to(op.node), copy)] = to;
    cc_.emit(id, to, a, b);
    if (once) return;
    if (f_.wide()) {
      const x86::KReg nan = new_mask();
      cc_.emit(pick(I::kIdVcmppd, I::kIdVcmpps), nan, a, a, asmjit::imm(unordered));
      cc_.k(nan).emit(pick(I::kIdVmovapd, I::kIdVmovaps), to, a);
      return;
    }
    const x86::Vec nan = new_vector();
    cc_.emit(pick(I::kIdVcmppd, I::kIdVcmpps), nan, a, a, asmjit::imm(unordered));
    cc_.emit(pick(I::kIdVblendvpd, I::kIdVblendvps), to, to, a, nan);
  }

  void emit_round(const MachineOp& op, unsigned copy) {
    const x86::Vec from = in_vector(value_of(op.in[0], copy));
    const x86::Vec to = define(op, copy);
    const auto bits = [&](std::uint64_t value) { return constant(Kind::Bits, value); };
    const x86::Vec t = new_vector();
    cc_.emit(I::kIdVpsrlq, t, from, asmjit::imm(short_shift));
    cc_.emit(I::kIdVandpd, t, t, bits(1));
    cc_.emit(I::kIdVpaddq, t, t, from);
    cc_.emit(I::kIdVpaddq, t, t, bits((std::uint64_t{1} << (short_shift - 1)) - 1));
    cc_.emit(I::kIdVandpd, to, t, bits(short_mask));
  }

  void emit_shift(const MachineOp& op, unsigned copy) {
    const x86::Vec from = in_vector(value_of(op.in[0], copy));
    const bool arithmetic = op.op == NodeOp::ShiftArith, left = op.op == NodeOp::ShiftLeft;
    if (g_.is_constant(op.in[1])) {
      const std::uint64_t most = arithmetic ? 63 : 64;
      const auto count = std::min(g_[op.in[1]].bits >> short_shift, most);
      const x86::Vec to = define(op, copy);
      if (!arithmetic || f_.wide()) {
        cc_.emit(arithmetic ? I::kIdVpsraq
                 : left     ? I::kIdVpsllq
                            : I::kIdVpsrlq,
                 to, from, asmjit::imm(count));
        return;
      }
      cc_.emit(I::kIdVpsrlq, to, from, asmjit::imm(count));
      cc_.emit(I::kIdVxorpd, to, to, constant(Kind::Bits, top_bit >> count));
      cc_.emit(I::kIdVpsubq, to, to, constant(Kind::Bits, top_bit >> count));
      return;
    }
    if (arithmetic && !f_.wide())
      throw Unsupported("an arithmetic shift by a variable count (AVX2)");
    const x86::Vec count = in_vector(value_of(op.in[1], copy));
    const x86::Vec t = new_vector();
    cc_.emit(I::kIdVpsrlq, t, count, asmjit::imm(short_shift));
    cc_.emit(arithmetic ? I::kIdVpsravq
             : left     ? I::kIdVpsllvq
                        : I::kIdVpsrlvq,
             define(op, copy), from, t);
  }

  void compare_wide(const MachineOp& op, unsigned copy) {
    const x86::Vec a = in_vector(value_of(op.in[0], copy));
    const bool of_numbers = op.op == NodeOp::Negative || op.op == NodeOp::IsZero;
    const Operand b = op.in[1] == no_ref
                          ? Operand(constant(of_numbers ? Kind::Number : Kind::Bits, 0))
                          : in_place(value_of(op.in[1], copy));
    x86::KReg mask;
    if (op.mask != no_ref) mask = mask_for(op.mask, copy);
    const x86::KReg to = define_mask(op, copy);
    InstId id = pick(I::kIdVcmppd, I::kIdVcmpps);
    if (!of_numbers)
      id = op.op == NodeOp::BitsAtLeast ? pick(I::kIdVpcmpuq, I::kIdVpcmpud)
                                        : pick(I::kIdVpcmpq, I::kIdVpcmpd);
    std::uint8_t p = 0;
    switch (op.op) {
      case NodeOp::Negative:
        p = op.inverted ? not_less : less;
        break;
      case NodeOp::IsZero:
        p = op.inverted ? not_equal : equal;
        break;
      case NodeOp::BitsNegative:
        p = op.inverted ? int_not_less : int_less;
        break;
      case NodeOp::BitsEqual:
        p = op.inverted ? int_not_equal : int_equal;
        break;
      default:
        p = op.inverted ? int_less : int_not_less;
    }
    if (op.mask == no_ref) {
      cc_.emit(id, to, a, b, asmjit::imm(p));
    } else {
      // As above: under a mask the result would count as read. So it takes the mask's place.
      const Value vm = value_of(op.mask, copy);
      if (mask.id() == registers_[vm].id() && !is_dead(vm)) {
        cc_.kmovw(to, mask);
        cc_.k(to).emit(id, to, a, b, asmjit::imm(p));
      } else {
        cc_.k(mask).emit(id, mask, a, b, asmjit::imm(p));
        registers_[value_of(ref_to(op.node), copy)] = mask;
      }
    }
  }

  void compare_narrow(const MachineOp& op, unsigned copy) {
    const x86::Vec a = in_vector(value_of(op.in[0], copy));
    const auto complement_of = [&](const x86::Vec& to, bool wanted) {
      if (wanted) cc_.emit(I::kIdVxorpd, to, to, constant(Kind::Mask, ~std::uint64_t{0}));
    };
    switch (op.op) {
      case NodeOp::Negative:
      case NodeOp::IsZero: {
        const std::uint8_t p = op.op == NodeOp::Negative ? (op.inverted ? not_less : less)
                                                         : (op.inverted ? not_equal : equal);
        cc_.emit(pick(I::kIdVcmppd, I::kIdVcmpps), define(op, copy), a, constant(Kind::Number, 0),
                 asmjit::imm(p));
        return;
      }
      case NodeOp::BitsNegative: {
        const x86::Vec zero = new_vector();
        cc_.emit(I::kIdVpxor, zero, zero, zero);
        const x86::Vec to = define(op, copy);
        cc_.emit(pick(I::kIdVpcmpgtq, I::kIdVpcmpgtd), to, zero, a);
        return complement_of(to, op.inverted);
      }
      case NodeOp::BitsEqual: {
        const Operand b = in_place(value_of(op.in[1], copy));
        const x86::Vec to = define(op, copy);
        cc_.emit(pick(I::kIdVpcmpeqq, I::kIdVpcmpeqd), to, a, b);
        return complement_of(to, op.inverted);
      }
      default:
        break;
    }
    const x86::Vec b = in_vector(value_of(op.in[1], copy));
    const x86::Vec x = new_vector(), y = new_vector();
    cc_.emit(I::kIdVxorpd, x, b, constant(Kind::Bits, top_bit));
    cc_.emit(I::kIdVxorpd, y, a, constant(Kind::Bits, top_bit));
    const x86::Vec to = define(op, copy);
    cc_.emit(pick(I::kIdVpcmpgtq, I::kIdVpcmpgtd), to, x, y);
    complement_of(to, !op.inverted);
  }

  void emit_both(const MachineOp& op, unsigned copy) {
    const bool turned_a = effective(op.in[0]), turned_b = effective(op.in[1]);
    const Value va = value_of(op.in[0], copy), vb = value_of(op.in[1], copy);
    if (f_.wide()) {
      const x86::KReg a = in_mask(va), b = in_mask(vb);
      const x86::KReg to = define_mask(op, copy);
      if (turned_a && turned_b) {
        cc_.korw(to, a, b);
        cc_.knotw(to, to);
      } else if (turned_a) {
        cc_.kandnw(to, a, b);
      } else if (turned_b) {
        cc_.kandnw(to, b, a);
      } else {
        cc_.kandw(to, a, b);
      }
      return;
    }
    const x86::Vec a = in_vector(va), b = in_vector(vb);
    const x86::Vec to = define(op, copy);
    if (turned_a && turned_b) {
      cc_.emit(I::kIdVorpd, to, a, b);
      cc_.emit(I::kIdVxorpd, to, to, constant(Kind::Mask, ~std::uint64_t{0}));
    } else if (turned_a) {
      cc_.emit(I::kIdVandnpd, to, a, b);
    } else if (turned_b) {
      cc_.emit(I::kIdVandnpd, to, b, a);
    } else {
      cc_.emit(I::kIdVandpd, to, a, b);
    }
  }

  // --- stores and the loop
  void store(const Store& store, unsigned copy) {
    const Ref value = value_behind(g_, store.value);
    const Value v = value_of(value, copy);
    const x86::Mem to =
        store.area == Store::Area::Output
            ? at(f_.items, copy * f_.kernel.layout.bytes() + f_.kernel.layout.output(store.slot))
            : carried_place(store_base_, copy, store.slot);
    const bool inverted = g_[value].kind == Kind::Mask && effective(value);
    if (!in_mask_register(v)) {
      x86::Vec from = in_vector(v);
      if (inverted) {
        const x86::Vec t = new_vector();
        cc_.emit(I::kIdVxorpd, t, from, constant(Kind::Mask, ~std::uint64_t{0}));
        from = t;
      }
      cc_.emit(I::kIdVmovapd, to, from);
      return;
    }
    x86::KReg from = in_mask(v);
    if (inverted) {
      const x86::KReg t = new_mask();
      cc_.knotw(t, from);
      from = t;
    }
    const x86::Vec t = new_vector();
    cc_.emit(pick(I::kIdVpmovm2q, I::kIdVpmovm2d), t, from);
    cc_.emit(I::kIdVmovapd, to, t);
  }
  void store_leaves() {
    for (const Store& s : s_.stores) {
      const Ref value = value_behind(g_, s.value);
      if (!is_leaf(g_[value].op) || (is_loop_ && resident_carried_[s.slot])) continue;
      for (unsigned u = 0; u < f_.copies; ++u) store(s, u);
    }
  }
  void enter_loop() {
    for (const Store& s : s_.stores) {
      if (!resident_carried_[s.slot]) continue;
      const Ref input = find_input(f_.kernel.carried_slot[s.slot]);
      for (unsigned u = 0; u < f_.copies; ++u) {
        const x86::Vec r = new_vector();
        cc_.emit(I::kIdVmovapd, r, carried_place(f_.carried, u, s.slot));
        const Value next = value_of(value_behind(g_, s.value), u);
        home_of_.try_emplace(next, homes_.size());
        homes_.push_back(r);
        if (input == no_ref) continue;
        registers_[value_of(input, u)] = r;
        live_in_homes_.push_back(value_of(input, u));
      }
    }
    if (!f_.policy.hoist) return;
    for (Value v = 0; v < registers_.size(); ++v) {
      const Node& n = node(v);
      if (uses_[v].empty() || in_register(v) || n.kind == Kind::Mask) continue;
      const bool fixed = n.op == NodeOp::Constant || n.op == NodeOp::Uniform ||
                         (n.op == NodeOp::Input && !carried_number(n));
      if (!fixed) continue;
      const x86::Vec r = new_vector();
      load(v, r);
      registers_[v] = r;
      hoisted_[v] = true;
    }
  }
  Ref find_input(std::uint32_t slot) const {
    const LeafKey key{f_.kernel.inputs[slot], slot, 0};
    for (std::uint32_t n = 0; n < nodes_; ++n) {
      const Node& node = g_[ref_to(n)];
      if (node.op == NodeOp::Input && node.bits == key.packed()) return ref_to(n);
    }
    return no_ref;
  }
  void restore_resident() {
    struct Move {
      x86::Vec from, to;
    };
    std::vector<Move> moves;
    std::size_t home = 0;
    for (const Store& s : s_.stores) {
      if (!resident_carried_[s.slot]) continue;
      for (unsigned u = 0; u < f_.copies; ++u, ++home) {
        const x86::Vec from = in_vector(value_of(value_behind(g_, s.value), u));
        if (from.id() != homes_[home].id()) moves.push_back({from, homes_[home]});
      }
    }
    while (!moves.empty()) {
      const auto next = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
        return std::none_of(moves.begin(), moves.end(),
                            [&](const Move& o) { return o.from.id() == m.to.id(); });
      });
      if (next != moves.end()) {
        cc_.emit(I::kIdVmovapd, next->to, next->from);
        moves.erase(next);
        continue;
      }
      const x86::Vec aside = new_vector();
      cc_.emit(I::kIdVmovapd, aside, moves.front().from);
      const auto old = moves.front().from.id();
      for (Move& m : moves)
        if (m.from.id() == old) m.from = aside;
    }
  }

  Function& f_;
  x86::Compiler& cc_;
  const Segment& s_;
  const Graph& g_;
  bool is_loop_;
  x86::Gp store_base_;
  std::uint32_t nodes_;
  std::vector<asmjit::BaseReg> registers_;  ///< by value
  std::vector<bool> hoisted_;
  std::vector<bool> resident_slot_, resident_carried_;
  MachineCode code_;
  std::vector<std::pair<std::uint32_t, unsigned>> sequence_;
  std::vector<std::vector<std::uint32_t>> uses_;
  std::vector<std::size_t> use_at_;
  std::vector<x86::Vec> homes_;
  std::map<Value, std::size_t> home_of_;
  std::vector<Value> live_in_homes_;
  std::vector<Value> loaded_;
  std::map<std::uint32_t, std::vector<const Store*>> stores_of_;
  std::uint32_t position_ = 0;
};

void emit_function(Function& f) {
  x86::Compiler& c = f.cc;
  const KernelCode& k = f.kernel;
  const auto segment = [&](const Segment& s, bool in_place) {
    SegmentCompiler(f, s, false, in_place).straight();
  };
  c.lea(f.carried, x86::ptr(f.items, static_cast<std::int32_t>(k.layout.set(0))));
  c.lea(f.next, x86::ptr(f.items, static_cast<std::int32_t>(k.layout.set(1))));
  const asmjit::Label last_pass = c.newLabel(), after_loop = c.newLabel();
  if (k.loops && !k.carried_slot.empty()) {
    c.cmp(f.passes, 1);
    c.jbe(last_pass);
    segment(k.first, false);
    c.xchg(f.carried, f.next);
    c.add(f.source, f.group_bytes());
    c.sub(f.passes, 2);
    c.jz(after_loop);
    SegmentCompiler(f, k.loop, true, false).loop();
    c.bind(after_loop);
    segment(k.last, true);
  } else if (k.loops) {
    c.dec(f.passes);
    c.imul(f.passes, f.passes, f.group_bytes());
    c.add(f.source, f.passes);
  }
  c.bind(last_pass);
  segment(k.once, false);
}

void embed_pool(const Function& f, const asmjit::Label& label) {
  const auto& layout = f.kernel.layout;
  std::vector<std::uint8_t> bytes(f.pool.size() * std::size_t{layout.vector_bytes});
  for (const auto& [key, number] : f.pool) {
    std::uint8_t* to = bytes.data() + std::size_t{number} * layout.vector_bytes;
    const Node constant{NodeOp::Constant, key.first, 0, no_ref, no_ref, no_ref, key.second};
    const std::uint64_t word = constant_lane(constant, f.target.precision);
    for (std::uint32_t lane = 0; lane < f.target.lanes(); ++lane)
      std::memcpy(to + lane * f.target.lane_bytes(), &word, f.target.lane_bytes());
  }
  f.cc.align(asmjit::AlignMode::kData, 64);
  f.cc.bind(label);
  f.cc.embed(bytes.data(), bytes.size());
}

class Thrower : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char* message, asmjit::BaseEmitter*) override {
    throw Unsupported(std::string("asmjit: ") + message);
  }
};

}  // namespace

native::CompiledKernel compile_with_asmjit(const KernelCode& kernel, Target target,
                                           const WordTable& source_words,
                                           const WordTable& uniform_words,
                                           const AsmjitPolicy& policy) {
  static asmjit::JitRuntime runtime;
  asmjit::CodeHolder holder;
  Thrower thrower;
  holder.init(runtime.environment());
  holder.setErrorHandler(&thrower);
  x86::Compiler cc(&holder);
  const Interleaving interleaving = choose_interleaving(kernel, target);
  Function f{cc,
             target,
             kernel,
             interleaving.copies,
             interleaving.lockstep,
             source_words,
             uniform_words,
             policy,
             {},
             {},
             {},
             {},
             {},
             {},
             {},
             {},
             {}};
  asmjit::FuncNode* func = cc.addFunc(
      asmjit::FuncSignatureT<void, void*, const void*, const void*, std::uint64_t, void*>(
          asmjit::CallConvId::kHost));
  func->frame().setAvxEnabled();
  if (f.wide()) func->frame().setAvx512Enabled();
  func->frame().setAvxCleanup();
  unsigned n = 0;
  for (x86::Gp* r : {&f.items, &f.source, &f.uniforms, &f.passes, &f.spills}) {
    *r = cc.newUInt64();
    func->setArg(n++, *r);
  }
  f.carried = cc.newUInt64();
  f.next = cc.newUInt64();
  f.constants = cc.newUInt64();
  const asmjit::Label pool = cc.newLabel();
  cc.lea(f.constants, x86::ptr(pool));
  emit_function(f);
  cc.ret();
  cc.endFunc();
  embed_pool(f, pool);
  cc.finalize();
  CompiledKernel made;
  made.bytes = holder.codeSize();
  runtime.add(&made.function, &holder);
  made.copies = interleaving.copies;
  return made;
}

}  // namespace gdr::bench
