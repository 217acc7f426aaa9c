#include "emulator/engine/native/codegen/to_ir.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "emulator/engine/jit/order.hpp"

namespace gdr::native {
namespace {

using jit::FmaSign;
using jit::IntPredicate;
using jit::no_value;
using jit::Op;
using jit::Operation;
using jit::Place;
using jit::Predicate;
using jit::Type;
using jit::ValueId;

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

/// A comparison and its complement; b is zero if the node has one operand.
struct Comparison {
  NodeOp node;
  Op op;
  std::uint8_t yes, no;
};
constexpr std::uint8_t code_of(Predicate p) { return static_cast<std::uint8_t>(p); }
constexpr std::uint8_t code_of(IntPredicate p) { return static_cast<std::uint8_t>(p); }
constexpr Comparison comparisons[] = {
    {NodeOp::Negative, Op::Compare, code_of(Predicate::Less), code_of(Predicate::NotLess)},
    {NodeOp::IsZero, Op::Compare, code_of(Predicate::Equal), code_of(Predicate::NotEqual)},
    {NodeOp::BitsNegative, Op::CompareSigned, code_of(IntPredicate::Less),
     code_of(IntPredicate::NotLess)},
    {NodeOp::BitsEqual, Op::CompareSigned, code_of(IntPredicate::Equal),
     code_of(IntPredicate::NotEqual)},
    {NodeOp::BitsAtLeast, Op::CompareUnsigned, code_of(IntPredicate::NotLess),
     code_of(IntPredicate::Less)}};

const Comparison* comparison(NodeOp op) {
  const auto* const found = std::ranges::find(comparisons, op, &Comparison::node);
  return found == std::end(comparisons) ? nullptr : found;
}
bool is_comparison(NodeOp op) { return comparison(op) != nullptr; }

bool is_free(NodeOp op) { return op == NodeOp::AsBits || op == NodeOp::AsNumber; }

/// Through AsBits and AsNumber, which cost nothing.
Ref value_behind(const Graph& graph, Ref r) {
  while (is_free(graph[r].op)) r = graph[r].a;
  return r;
}

struct SimpleOp {
  NodeOp node;
  Op op;
};
constexpr SimpleOp simple_ops[] = {{NodeOp::Add, Op::Add},
                                   {NodeOp::Sub, Op::Sub},
                                   {NodeOp::Mul, Op::Mul},
                                   {NodeOp::Divide, Op::Divide},
                                   {NodeOp::Sqrt, Op::Sqrt},
                                   {NodeOp::FromInt, Op::IntToFloat},
                                   {NodeOp::RsqrtEstimate, Op::RsqrtEstimate},
                                   {NodeOp::RecipEstimate, Op::RecipEstimate},
                                   {NodeOp::And, Op::And},
                                   {NodeOp::Or, Op::Or},
                                   {NodeOp::Xor, Op::Xor},
                                   {NodeOp::IntAdd, Op::IntAdd},
                                   {NodeOp::IntSub, Op::IntSub},
                                   {NodeOp::SignedMax, Op::SignedMax},
                                   {NodeOp::SignedMin, Op::SignedMin},
                                   {NodeOp::UnsignedMax, Op::UnsignedMax},
                                   {NodeOp::UnsignedMin, Op::UnsignedMin}};

Op simple_op(NodeOp op) {
  const auto* const found = std::ranges::find(simple_ops, op, &SimpleOp::node);
  if (found == std::end(simple_ops)) throw Unsupported("an operation that has no instruction");
  return found->op;
}

/// Lowers one work item's code; memory operations are added after scheduling.
class Lowering {
 public:
  Lowering(const CodeContext& context, jit::ConstantPool& pool, const Segment& s,
           CarriedStores stores, unsigned resident)
      : c_(context),
        pool_(pool),
        s_(s),
        g_(s.graph),
        wide_(context.target.isa == Isa::Avx512),
        stores_(stores),
        needed_(needed_nodes(s)),
        uses_(use_counts(s)),
        id_(s.graph.size(), no_value) {
    choose_resident(resident);
    find_inverted();
    find_compared();
  }

  IrSegment run() {
    const auto is_resident = [&](const Store& store) {
      return stores_ == CarriedStores::Loop && store.has_place() && resident_[store.slot];
    };
    absorbed_.assign(g_.size(), false);
    if (wide_) find_absorbed();
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const NodeOp op = g_[ref_to(n)].op;
      const bool elsewhere = absorbed_[n] || compared_[n];
      if (needed_[n] && !elsewhere && !is_leaf(op) && !is_free(op)) id_[n] = lowered_node(n);
    }
    for (const Store& store : s_.stores) {
      if (is_resident(store)) finish_carried(store);
    }
    std::vector<ValueId> roots;
    for (const Store& store : s_.stores) {
      const bool never = store.area == Store::Area::Append && g_.is_constant(store.value);
      if (!never) roots.push_back(value(value_behind(g_, store.value)));
    }
    IrSegment made;
    made.pressure = jit::order_for_registers(block_, roots);
    for (const Store& store : s_.stores) {
      if (!store.has_place() || is_resident(store)) continue;
      made.in_memory = made.in_memory || stores_ == CarriedStores::Loop;
      add_store(store);
    }
    weave_stores();
    made.block = std::move(block_);
    return made;
  }

 private:
  // --- selection
  void choose_resident(unsigned most) {
    resident_.assign(c_.kernel.carried_slot.size(), false);
    carried_in_.assign(resident_.size(), no_value);
    unsigned count = 0;
    for (const Store& store : s_.stores) {
      if (!store.has_place() || store.type == WordType::Mask || count == most) continue;
      resident_[store.slot] = true;
      carried_in_[store.slot] = block_.add_value({});
      ++count;
    }
  }

  /// Comparisons of which only the complement is used, if the host has an instruction for that:
  /// AVX2 compares integers in two ways only, and Select and Both accept complements. And Both of
  /// two complements, which is the complement of one instruction.
  void find_inverted() {
    inverted_.assign(g_.size(), false);
    std::vector<bool> straight(g_.size(), false), turned(g_.size(), false);
    const auto note = [&](Ref r) { (negated(r) ? turned : straight)[node_of(r)] = true; };
    for (const Store& store : s_.stores) note(store.value);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      if (!needed_[n]) continue;
      for (const Ref r : g_[ref_to(n)].operands()) note(r);
    }
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const NodeOp op = g_[ref_to(n)].op;
      const bool of_integers = op == NodeOp::BitsEqual || op == NodeOp::BitsNegative;
      inverted_[n] = turned[n] && !straight[n] && is_comparison(op) && (wide_ || !of_integers);
      if (op == NodeOp::Both && needed_[n]) inverted_[n] = is_either(g_[ref_to(n)]);
    }
  }

  /// Differences of which only the sign matters, or whether they are zero: their operands are
  /// compared. (These differ in one case: two infinite numbers are equal.)
  void find_compared() {
    compared_.assign(g_.size(), false);
    std::vector<unsigned> comparisons_of(g_.size(), 0);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const Node& node = g_[ref_to(n)];
      if (needed_[n] && is_comparison_with_zero(node)) ++comparisons_of[node_of(node.a)];
    }
    for (std::uint32_t n = 0; n < g_.size(); ++n)
      compared_[n] = comparisons_of[n] != 0 && comparisons_of[n] == uses_[n] &&
                     g_[ref_to(n)].op == NodeOp::Sub;
  }
  static bool is_comparison_with_zero(const Node& node) {
    return node.op == NodeOp::Negative || node.op == NodeOp::IsZero;
  }

  /// Whether a Both is computed as the complement of an Or.
  bool is_either(const Node& both) const {
    return effective(both.a) && effective(both.b) && !(wide_ && absorbed_by_both(both) != no_ref);
  }

  // --- values
  static Place place_at(Location l, bool broadcast = false) {
    return {l.base, broadcast, l.offset};
  }
  Place constant_place(Kind kind, std::uint64_t bits) {
    const Node node{NodeOp::Constant, kind, 0, no_ref, no_ref, no_ref, bits};
    return pool_.place(constant_lane(node, c_.target.precision));
  }
  ValueId constant(Kind kind, std::uint64_t bits) {
    const Place place = constant_place(kind, bits);
    const auto [found, is_new] = constants_.try_emplace(place.offset, no_value);
    if (is_new) found->second = block_.add_value({Type::Vector, true, place});
    return found->second;
  }

  Place leaf_place(const Node& n) {
    if (n.op == NodeOp::Constant) return constant_place(n.kind, n.bits);
    return place_at(c_.leaf(n), !c_.has_lanes(n));
  }
  ValueId leaf(const Node& n) {
    if (n.op == NodeOp::Constant && n.kind != Kind::Mask) return constant(n.kind, n.bits);
    if (n.op == NodeOp::Input) {
      const auto number = c_.carried_number(LeafKey::unpack(n.bits).place);
      if (number && carried_in_[*number] != no_value) return carried_in_[*number];
    }
    // A mask is in memory as lanes of ones and zeros.
    const bool lanes = n.kind == Kind::Mask && wide_;
    const Type type = n.kind == Kind::Mask && !lanes ? Type::Mask : Type::Vector;
    const ValueId v = block_.add_value({type, true, leaf_place(n)});
    return lanes ? block_.add(Op::LanesToMask, Type::Mask, {v, no_value, no_value}) : v;
  }
  /// The value of a node; for a mask perhaps its complement (`effective`).
  ValueId value(Ref r) {
    const std::uint32_t n = node_of(value_behind(g_, r));
    if (id_[n] == no_value && is_leaf(g_[ref_to(n)].op)) id_[n] = leaf(g_[ref_to(n)]);
    return id_[n];
  }
  /// Whether a mask is the complement of its value.
  bool effective(Ref r) const { return negated(r) != inverted_[node_of(r)]; }
  ValueId operation(Op op, Type type, ValueId a, ValueId b = no_value, ValueId c = no_value,
                    std::uint8_t detail = 0) {
    return block_.add(op, type, {a, b, c}, detail);
  }
  ValueId vector(Op op, ValueId a, ValueId b = no_value, ValueId c = no_value,
                 std::uint8_t detail = 0) {
    return operation(op, Type::Vector, a, b, c, detail);
  }
  ValueId complement_of(ValueId mask) {
    if (wide_) return operation(Op::MaskNot, Type::Mask, mask);
    return operation(Op::Xor, Type::Mask, mask, constant(Kind::Mask, all_bits));
  }
  ValueId mask_for(Ref r) { return effective(r) ? complement_of(value(r)) : value(r); }
  bool is_zero(Ref r) const { return g_.is_constant(r) && g_[r].bits == 0; }

  bool single(Ref r) const { return uses_[node_of(r)] == 1; }

  /// The operation that can run under a select's mask: its own only user's.
  Ref absorbed_by_select(const Node& select) const {
    const Node& inner = g_[select.b];
    if (!single(select.b) || select.b == select.c) return no_ref;
    switch (inner.op) {
      case NodeOp::Add:
      case NodeOp::Sub:
      case NodeOp::Mul:
      case NodeOp::IntAdd:
        return select.b;
      case NodeOp::Fma:
        return is_zero(select.c) || inner.c == select.c ? select.b : no_ref;
      default:
        return no_ref;
    }
  }

  /// A comparison under the mask of the other one.
  Ref absorbed_by_both(const Node& both) const {
    for (const Ref r : {both.b, both.a}) {
      if (single(r) && is_comparison(g_[r].op) && g_[r].op != NodeOp::BitsNegative) return r;
    }
    return no_ref;
  }

  void find_absorbed() {
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      if (!needed_[n]) continue;
      const Node& node = g_[ref_to(n)];
      Ref inner = no_ref;
      if (node.op == NodeOp::Select) inner = absorbed_by_select(node);
      if (node.op == NodeOp::Both) inner = absorbed_by_both(node);
      if (inner != no_ref) absorbed_[node_of(inner)] = true;
    }
  }

  ValueId lowered_node(std::uint32_t n) {
    const Node& node = g_[ref_to(n)];
    if (node.op == NodeOp::Select && absorbed_[node_of(node.b)] &&
        absorbed_by_select(node) != no_ref) {
      return lower_masked(g_[node.b], node);
    }
    if (node.op == NodeOp::Both && wide_) {
      if (const Ref inner = absorbed_by_both(node); inner != no_ref) {
        const Ref other = inner == node.b ? node.a : node.b;
        if (!effective(other)) return lower_comparison(g_[inner], negated(inner), value(other));
        // As many instructions as under the complement, and independent of the other mask.
        const ValueId mask = lower_comparison(g_[inner], negated(inner), no_value);
        return operation(Op::MaskAndNot, Type::Mask, value(other), mask);
      }
    }
    switch (node.op) {
      case NodeOp::Select:
        return lower_select(node);
      case NodeOp::Max:
      case NodeOp::Min:
        return lower_extreme(node);
      case NodeOp::Round:
        return lower_round(node);
      case NodeOp::ShiftLeft:
      case NodeOp::ShiftRight:
      case NodeOp::ShiftArith:
        return lower_shift(node);
      case NodeOp::SignedMax:
      case NodeOp::SignedMin:
      case NodeOp::UnsignedMax:
      case NodeOp::UnsignedMin:
        return lower_integer_extreme(node);
      case NodeOp::Both:
        return lower_both(node);
      case NodeOp::Truncate:
        return truncated(value(node.a), node.detail);
      case NodeOp::ToInt:
        return lower_to_int(node);
      case NodeOp::Lookup:
        return lower_lookup(node);
      case NodeOp::Append:
        return lower_append(node);
      default:
        if (is_comparison(node.op)) return lower_comparison(node, inverted_[n], no_value);
        return lower_plain(node);
    }
  }

  ValueId lower_plain(const Node& node) {
    if (node.op == NodeOp::Fma) {
      constexpr std::uint8_t signs = fma_negate_product | fma_negate_addend;
      return vector(Op::Fma, value(node.a), value(node.b), value(node.c), node.detail & signs);
    }
    const ValueId b = node.b == no_ref ? no_value : value(node.b);
    return vector(simple_op(node.op), value(node.a), b);
  }

  /// An operation under a mask: other lanes are zero, or the select's other operand.
  ValueId lower_masked(const Node& inner, const Node& select) {
    const ValueId mask = mask_for(select.a);
    const ValueId result = lower_plain(inner);
    Operation& o = block_.code.back();
    o.mask = mask;
    if (!is_zero(select.c)) o.otherwise = value(select.c);
    return result;
  }

  ValueId lower_select(const Node& node) {
    Ref yes = node.b;
    Ref no = node.c;
    if (effective(node.a)) std::swap(yes, no);
    const ValueId mask = value(node.a);
    if (!wide_ && is_zero(no)) return vector(Op::And, mask, value(yes));
    if (!wide_ && is_zero(yes)) return vector(Op::AndNot, mask, value(no));
    return vector(Op::Select, mask, value(yes), value(no));
  }

  /// The host gives the second operand where one is NaN; a NaN in the first must come through, too.
  ValueId lower_extreme(const Node& node) {
    const ValueId a = value(node.a);
    const ValueId extreme = vector(node.op == NodeOp::Max ? Op::Max : Op::Min, a, value(node.b));
    if (g_.is_constant(node.a)) return extreme;
    const ValueId nan = compared(Op::Compare, a, a, code_of(Predicate::Unordered));
    return vector(Op::Select, nan, a, extreme);
  }

  /// To the nearest short, ties to even: just under half is added, and one more for an odd last
  /// bit.
  ValueId lower_round(const Node& node) {
    const ValueId x = value(node.a);
    const auto bits = [&](std::uint64_t b) { return constant(Kind::Bits, b); };
    ValueId t = vector(Op::ShiftRight, x, no_value, no_value, short_shift);
    t = vector(Op::And, t, bits(1));
    t = vector(Op::IntAdd, t, x);
    t = vector(Op::IntAdd, t, bits((std::uint64_t{1} << (short_shift - 1)) - 1));
    return vector(Op::And, t, bits(short_mask));
  }

  ValueId lower_shift(const Node& node) {
    const bool arithmetic = node.op == NodeOp::ShiftArith;
    const bool left = node.op == NodeOp::ShiftLeft;
    const ValueId x = value(node.a);
    if (g_.is_constant(node.b)) {
      const std::uint64_t most = arithmetic ? 63 : 64;
      const auto count = static_cast<std::uint8_t>(std::min(g_[node.b].bits >> short_shift, most));
      const Op op = arithmetic && wide_ ? Op::ShiftArith : left ? Op::ShiftLeft : Op::ShiftRight;
      const ValueId shifted = vector(op, x, no_value, no_value, count);
      if (!arithmetic || wide_) return shifted;
      // Sign extension: (x ^ s) - s, with s the shifted sign bit.
      const ValueId sign = constant(Kind::Bits, top_bit >> count);
      return vector(Op::IntSub, vector(Op::Xor, shifted, sign), sign);
    }
    if (arithmetic && !wide_) throw Unsupported("an arithmetic shift by a variable count (AVX2)");
    const ValueId count = vector(Op::ShiftRight, value(node.b), no_value, no_value, short_shift);
    const Op op = arithmetic ? Op::ShiftArithBy : left ? Op::ShiftLeftBy : Op::ShiftRightBy;
    return vector(op, x, count);
  }

  ValueId lower_to_int(const Node& node) {
    const ValueId x = value(value_behind(g_, node.a));
    if (c_.target.precision == Precision::Float) {
      // The host gives the least integer for numbers above the largest one.
      constexpr float largest = 0x1.fffffep30F;
      if (is_at_most(node.a, largest)) return vector(Op::FloatToInt, x);
      return vector(Op::FloatToInt, vector(Op::Min, x, number(largest)));
    }
    if (wide_) return vector(Op::DoubleToInt, x);
    // In the last bits of a number whose unit is one.
    constexpr double ones = 0x1.8p52;
    const ValueId sum = vector(Op::Add, truncated(x, 0), number(ones));
    return vector(Op::IntSub, sum, constant(Kind::Bits, std::bit_cast<std::uint64_t>(ones)));
  }
  ValueId truncated(ValueId x, std::uint8_t towards) {
    const auto [found, is_new] = truncated_.try_emplace({x, towards}, no_value);
    if (is_new) found->second = vector(Op::Truncate, x, no_value, no_value, towards);
    return found->second;
  }
  /// Whether a number is limited by a constant.
  bool is_at_most(Ref r, double limit) const {
    const Node& node = g_[r];
    if (node.op == NodeOp::Constant) return std::bit_cast<double>(node.bits) <= limit;
    return node.op == NodeOp::Min && (is_at_most(node.a, limit) || is_at_most(node.b, limit));
  }
  ValueId number(double x) { return constant(Kind::Number, std::bit_cast<std::uint64_t>(x)); }

  ValueId lower_lookup(const Node& node) {
    const ValueId made = vector(Op::Gather, value(node.a));
    block_.code.back().place = place_at(c_.table(node));
    return made;
  }

  ValueId lower_integer_extreme(const Node& node) {
    if (wide_) return lower_plain(node);
    const ValueId a = value(node.a), b = value(node.b);
    ValueId x = a, y = b;
    if (node.op == NodeOp::UnsignedMax || node.op == NodeOp::UnsignedMin) {
      const ValueId top = constant(Kind::Bits, top_bit_of_lanes());
      y = vector(Op::Xor, b, top);
      x = vector(Op::Xor, a, top);
    }
    const ValueId larger = compared(Op::CompareSigned, x, y, code_of(IntPredicate::Greater));
    const bool max = node.op == NodeOp::SignedMax || node.op == NodeOp::UnsignedMax;
    return vector(Op::Select, larger, max ? a : b, max ? b : a);
  }

  ValueId compared(Op op, ValueId a, ValueId b, std::uint8_t predicate, ValueId mask = no_value) {
    const ValueId result = operation(op, Type::Mask, a, b, no_value, predicate);
    block_.code.back().mask = mask;
    return result;
  }

  ValueId lower_comparison(const Node& node, bool inverted, ValueId mask) {
    const bool of_numbers = is_comparison_with_zero(node);
    if (!wide_ && !of_numbers) return lower_comparison_narrow(node, inverted);
    if (of_numbers && compared_[node_of(node.a)]) {
      const Node& difference = g_[node.a];
      const Comparison& c = *comparison(node.op);
      return compared(c.op, value(difference.a), value(difference.b), inverted ? c.no : c.yes,
                      mask);
    }
    const ValueId a = value(node.a);
    const ValueId b =
        node.b == no_ref ? constant(of_numbers ? Kind::Number : Kind::Bits, 0) : value(node.b);
    const Comparison& c = *comparison(node.op);
    return compared(c.op, a, b, inverted ? c.no : c.yes, mask);
  }

  /// As bits of a constant, of which lanes of floats have the lower ones of 36.
  std::uint64_t top_bit_of_lanes() const {
    const bool floats = c_.target.precision == Precision::Float;
    return floats ? std::uint64_t{1} << (31 + short_shift) : top_bit;
  }

  ValueId lower_comparison_narrow(const Node& node, bool inverted) {
    const auto greater = [&](ValueId x, ValueId y) {
      return compared(Op::CompareSigned, x, y, code_of(IntPredicate::Greater));
    };
    const ValueId a = value(node.a);
    ValueId mask = no_value;
    if (node.op == NodeOp::BitsNegative) {
      mask = greater(constant(Kind::Bits, 0), a);
    } else if (node.op == NodeOp::BitsEqual) {
      mask = compared(Op::CompareSigned, a, value(node.b), code_of(IntPredicate::Equal));
    } else {
      // Unsigned a >= b is not (b > a), as signed integers with inverted top bits.
      const ValueId top = constant(Kind::Bits, top_bit_of_lanes());
      const ValueId b = vector(Op::Xor, value(node.b), top);
      mask = greater(b, vector(Op::Xor, a, top));
      inverted = !inverted;
    }
    return inverted ? complement_of(mask) : mask;
  }

  ValueId lower_both(const Node& node) {
    ValueId a = value(node.a), b = value(node.b);
    const bool turned_a = effective(node.a), turned_b = effective(node.b);
    if (turned_a && turned_b) return operation(wide_ ? Op::MaskOr : Op::Or, Type::Mask, a, b);
    if (!turned_a && !turned_b) return operation(wide_ ? Op::MaskAnd : Op::And, Type::Mask, a, b);
    if (turned_b) std::swap(a, b);
    return operation(wide_ ? Op::MaskAndNot : Op::AndNot, Type::Mask, a, b);
  }

  /// The result only stands for the append among the roots.
  ValueId lower_append(const Node& node) {
    const ValueId mask = mask_for(node.a);
    const ValueId made = operation(Op::Append, Type::Vector, mask, value(value_behind(g_, node.b)));
    const std::uint32_t list = AppendKey::unpack(node.bits).list;
    block_.code.back().place = place_at(c_.list(list));
    return made;
  }

  void finish_carried(const Store& store) {
    const ValueId out = value(value_behind(g_, store.value));
    block_.carried.push_back(
        {carried_in_[store.slot], out, place_at(c_.carried(base_carried, store.slot))});
  }

  // --- stores
  /// Stores follow the defining operation, or go to the end if no operation defines the value or
  /// others still read the location.
  void add_store(const Store& store) {
    const Ref behind = value_behind(g_, store.value);
    const bool in_place = store.area == Store::Area::Carried && stores_ == CarriedStores::InPlace;
    const bool at_end = is_leaf(g_[behind].op) || in_place || store.area == Store::Area::Total;
    std::vector<Operation>& list = at_end ? stores_at_end_ : stores_after_[value(behind)];
    // Preparatory operations are appended to the block and then moved to the list.
    const std::size_t before = block_.code.size();
    ValueId stored = value(behind);
    if (g_[behind].kind == Kind::Mask) {
      if (effective(behind)) stored = complement_of(stored);
      if (wide_) stored = vector(Op::MaskToLanes, stored);
    }
    list.insert(list.end(), block_.code.begin() + static_cast<std::ptrdiff_t>(before),
                block_.code.end());
    block_.code.resize(before);
    Operation o;
    o.op = Op::Store;
    o.in[0] = stored;
    o.place = place_at(c_.destination(store, in_place ? base_carried : base_next));
    list.push_back(o);
  }

  void weave_stores() {
    std::vector<Operation> woven;
    for (const Operation& o : block_.code) {
      woven.push_back(o);
      const auto found = stores_after_.find(o.to);
      if (found == stores_after_.end()) continue;
      woven.insert(woven.end(), found->second.begin(), found->second.end());
    }
    woven.insert(woven.end(), stores_at_end_.begin(), stores_at_end_.end());
    block_.code = std::move(woven);
  }

  const CodeContext& c_;
  jit::ConstantPool& pool_;
  const Segment& s_;
  const Graph& g_;
  bool wide_;
  CarriedStores stores_;
  std::vector<bool> needed_;
  std::vector<unsigned> uses_;
  std::vector<ValueId> id_;  ///< by node
  std::map<std::int32_t, ValueId> constants_;
  std::map<std::pair<ValueId, std::uint8_t>, ValueId> truncated_;  ///< by number and direction
  std::vector<bool> resident_;       ///< by number of the carried value
  std::vector<ValueId> carried_in_;  ///< likewise
  std::vector<bool> inverted_;       ///< by node: a mask that is kept as its complement
  std::vector<bool> absorbed_;       ///< by node: part of its only user
  std::vector<bool> compared_;       ///< by node: a difference that is only compared
  jit::Block block_;
  std::map<ValueId, std::vector<Operation>> stores_after_;
  std::vector<Operation> stores_at_end_;
};

}  // namespace

jit::VectorTarget vector_target(Target target) noexcept {
  return {target.isa == Isa::Avx512, target.precision == Precision::Float};
}

IrSegment to_ir(const CodeContext& context, jit::ConstantPool& pool, const Segment& segment,
                unsigned copies, CarriedStores stores, unsigned resident) {
  IrSegment made = Lowering(context, pool, segment, stores, resident).run();
  // Work items are consecutive; other operands are shared.
  made.block = jit::interleaved(made.block, copies, [&](Place p, unsigned copy) {
    if (p.base == base_items || p.base == base_carried || p.base == base_next) {
      p.offset += static_cast<std::int32_t>(copy * context.kernel.layout.bytes());
    }
    return p;
  });
  return made;
}

}  // namespace gdr::native
