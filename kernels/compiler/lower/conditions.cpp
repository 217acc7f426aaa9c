// Masks and selections. A comparison is one operation that sets a mask from its flag. A compound
// condition predicates the second comparison on the mask of the first.
#include <algorithm>
#include <cmath>

#include "emulator/isa/table.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {
namespace {

/// The bits of a number in a word of this width.
u128 word_of(double number, Width width) {
  if (width == Width::Long) return long_from_double(number).bits;
  Flags flags = no_flags;
  return upper_half(short_from_double(number, flags)).bits;
}

}  // namespace

MaskId Builder::new_mask() {
  loop_.masks.emplace_back();
  return static_cast<MaskId>(loop_.masks.size() - 1);
}

/// Emit an operation whose flag sets a mask, after the previous ones that set it.
OpId Builder::set_mask(MaskId mask, Op op, Ref a, Ref b, MaskFlag flag, MaskId predicate,
                       bool value) {
  const auto id = static_cast<OpId>(loop_.ops.size());
  MachineMask& m = loop_.mask(mask);
  const int latency = loop_.latency();
  if (!m.defs.empty())
    loop_.dependences.push_back({m.defs.back(), id, predicate == mask ? latency : 1});
  if (predicate != none) {
    MachineMask& p = loop_.mask(predicate);
    if (predicate != mask) loop_.dependences.push_back({p.defs.back(), id, latency});
    p.uses.push_back(id);
  }
  m.defs.push_back(id);
  loop_.ops.push_back({.op = op,
                       .width = info(op).unit == Unit::Integer ? Width::Short : Width::Long,
                       .in = {a, b},
                       .sets = mask,
                       .flag = flag,
                       .predicate = predicate,
                       .predicate_value = value,
                       .where = where_});
  return id;
}

bool Builder::is_comparison(NodeId id) const {
  const Fn fn = graph_.node(id).fn;
  return fn == Fn::Less || fn == Fn::Equal;
}

/// a < b or a == b, into a mask; if possible by the flag of the operation that computed a.
Condition Builder::compare(const Node& node, MaskId into, MaskId predicate, bool predicate_value) {
  const bool less = node.fn == Fn::Less;
  const MaskFlag flag = less ? MaskFlag::Negative : MaskFlag::Zero;
  const Node& first = graph_.node(node.a);
  if (first.type == Type::Int) {
    const Ref a = integer(node.a);
    where_ = node.where;
    set_mask(into, Op::Isub, a, integer(node.b), flag, predicate, predicate_value);
    return {into, true};
  }
  Term a = term(node.a);
  Term b = term(node.b);
  where_ = node.where;
  if (a.constant && b.constant)
    throw Error(ErrorCategory::Internal, "a condition between two constants");
  // A sum or difference compared with zero: its own flag suffices.
  if (b.constant && b.number == 0 && (a.scale > 0 || !less) && predicate == none) {
    MachineOp* op = producer(a.ref);
    if (op != nullptr && info(op->op).unit == Unit::Adder && op->sets == none &&
        op->predicate == none) {
      op->sets = into;
      op->flag = flag;
      loop_.mask(into).defs.push_back(loop_.value(a.ref.value).defs[0]);
      return {into, true};
    }
  }
  double scale = a.constant ? b.scale : a.scale;
  if (!a.constant && !b.constant && a.scale != b.scale) {
    const bool second = invariant(b.ref) || (!invariant(a.ref) && std::abs(a.scale) == 1);
    const Width w = second ? width_of(b.ref) : width_of(a.ref);
    scale = second ? a.scale : b.scale;
    (second ? b : a) = with_scale(second ? b : a, scale, w);
  }
  if (scale < 0 && less) std::swap(a, b);  // s a < s b with negative s: swap
  auto side = [&](const Term& t) { return t.constant ? immediate(t.number * scale) : t.ref; };
  set_mask(into, Op::Fsub, side(a), side(b), flag, predicate, predicate_value);
  return {into, true};
}

/// Whether others use a condition's mask; a negation shares the mask of its operand.
bool Builder::is_shared(NodeId id) const {
  while (node_uses_[index(id)] == 1) {
    const Node& node = graph_.node(id);
    if (node.fn != Fn::Not) return false;
    id = node.a;
  }
  return true;
}

/// `a || b` or `a && b`: the second condition is evaluated where the first does not decide.
Condition Builder::combine_conditions(const Node& node, bool conjunction) {
  NodeId first = node.a, second = node.b;
  if (is_comparison(first) && !is_comparison(second)) std::swap(first, second);
  Condition a = condition(first);
  // The mask is modified: copy a shared one.
  MaskId mask = a.mask;
  if (is_shared(first)) {
    mask = new_mask();
    set_mask(mask, Op::Ipass, bits(a.value ? 1 : 0), {}, MaskFlag::Zero, none, true);
    // Set the copy where a holds.
    set_mask(mask, Op::Ipass, bits(a.value ? 0 : 1), {}, MaskFlag::Zero, a.mask, a.value);
    a.mask = mask;
  }
  // Where b decides: a || b where a fails, a && b where a holds.
  const bool open = conjunction ? a.value : !a.value;
  if (is_comparison(second) && a.value) {
    compare(graph_.node(second), mask, mask, open);
    return {mask, true};
  }
  const Condition b = condition(second);
  // Copy what b decides. a || b: set the mask where b holds; a && b: clear it where b fails.
  const bool written = conjunction ? !a.value : a.value;
  set_mask(mask, Op::Ipass, bits(written ? 0 : 1), {}, MaskFlag::Zero, b.mask,
           conjunction ? !b.value : b.value);
  return {mask, a.value};
}

Condition Builder::condition(NodeId id) {
  if (const auto known = conditions_.find(id); known != conditions_.end()) return known->second;
  const Node& node = graph_.node(id);
  where_ = node.where;
  Condition made;
  switch (node.fn) {
    case Fn::Less:
    case Fn::Equal:
      made = compare(node, new_mask(), none, true);
      break;
    case Fn::Not:
      made = condition(node.a);
      made.value = !made.value;
      break;
    case Fn::And:
      made = combine_conditions(node, true);
      break;
    case Fn::Or:
      made = combine_conditions(node, false);
      break;
    default:
      throw Error(ErrorCategory::Internal, "this operation does not make a condition");
  }
  conditions_.emplace(id, made);
  return made;
}

/// Whether the only reader of a node is the only reader of its value. A node with another sign or
/// scale than its operand shares the operand's value; so do equal operations.
bool Builder::owns_its_value(NodeId id) const {
  const auto value_of = [&](NodeId n) {
    const Term* known = n == no_node || !terms_[index(n)] ? nullptr : &*terms_[index(n)];
    const bool is_value = known && !known->constant && known->ref.kind == Ref::Kind::Value;
    return is_value ? known->ref.value : none;
  };
  const ValueId value = value_of(id);
  if (value == none) return false;
  for (unsigned nodes = 1;; ++nodes) {
    const auto at = index(id);
    if (node_uses_[at] != 1) return false;
    const Node& node = graph_.nodes[at];
    id = no_node;
    for (const NodeId operand : {node.a, node.b, node.c}) {
      if (value_of(operand) == value) id = operand;
    }
    if (id == no_node) return nodes_of_value_.at(value) == nodes;
  }
}

/// A value that may be overwritten: the given one if nothing else reads it, else a copy.
Ref Builder::fresh_copy(const Ref& ref, bool own, Width width) {
  const MachineOp* op = producer(ref);
  if (own && op != nullptr && op->op != Op::Bget && op->sets == none && op->predicate == none &&
      width_of(ref) == width) {
    bool read = false;
    for (const MachineOp& o : loop_.ops)
      for (const Ref& r : o.in) read = read || (r.kind == Ref::Kind::Value && r.value == ref.value);
    if (!read) {
      for (auto it = value_numbers_.begin(); it != value_numbers_.end();)
        it = it->second == ref.value ? value_numbers_.erase(it) : std::next(it);
      return ref;
    }
  }
  return append_op(
      {.op = width_of(ref) == width ? Op::Upass : Op::Fcvt, .width = width, .in = {ref, {}}});
}

/// condition ? yes : no. Two operations write one value, the second under the mask.
Ref Builder::select(Condition c, const Ref& yes, bool own_yes, const Ref& no, bool own_no,
                    Width width) {
  const Ref base = fresh_copy(no, own_no, width);
  const Ref over = fresh_copy(yes, own_yes, width);
  const OpId write = loop_.value(over.value).defs[0];
  loop_.op(write).out = base.value;
  loop_.value(base.value).defs.push_back(write);
  loop_.value(over.value).defs.clear();
  predicate(write, c);
  return base;
}

/// The same with a constant `no`: a transfer from the broadcast memory writes it first.
Ref Builder::select_constant(Condition c, const Ref& yes, bool own_yes, u128 no_bits, Width width) {
  const Ref over = fresh_copy(yes, own_yes, width);
  const ConstantWord constant{width, no_bits};
  const auto word = std::ranges::find(loop_.words, constant) - loop_.words.begin();
  if (word == std::ssize(loop_.words)) loop_.words.push_back(constant);
  const auto id = static_cast<OpId>(loop_.ops.size());
  loop_.ops.push_back(
      {.op = Op::Bget, .width = width, .out = over.value, .word = static_cast<std::int32_t>(word)});
  std::vector<OpId>& defs = loop_.value(over.value).defs;
  defs.insert(defs.begin(), id);
  predicate(defs[1], c);
  return over;
}

Term Builder::choose(const Node& node) {
  const Width width = width_for(node.type);
  Term yes = term(node.b);
  Term no = term(node.c);
  Condition c = condition(node.a);
  if (yes.constant) {
    std::swap(yes, no);
    c.value = !c.value;
  }
  const bool swapped = node.b != no_node && graph_.node(node.b).fn == Fn::Constant;
  const NodeId yes_node = swapped ? node.c : node.b, no_node_id = swapped ? node.b : node.c;
  const bool own_yes = owns_its_value(yes_node);
  const bool own_no = owns_its_value(no_node_id);
  if (yes.constant) {  // both are constant
    const Ref a = emit(Op::Fcvt, width, immediate(yes.number));
    return {select_constant(c, a, false, word_of(no.number, width), width)};
  }
  if (no.constant) {
    const u128 word = word_of(no.number * yes.scale, width);
    return {select_constant(c, yes.ref, own_yes, word, width), yes.scale};
  }
  bool own = own_no;
  if (no.scale != yes.scale) {
    no = with_scale(no, yes.scale, width);
    own = false;
  }
  return {select(c, yes.ref, own_yes, no.ref, own, width), yes.scale};
}

}  // namespace gdr::kc
