#include "kernels/compiler/lower/builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/isa/table.hpp"
#include "emulator/numeric/float.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/ir/function.hpp"

namespace gdr::kc {
namespace {

bool power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

}  // namespace

Ref constant_ref(double number) {
  Flags flags = no_flags;
  const Long exact = long_from_double(number);
  const Long narrow = short_from_double(number, flags);
  return narrow == exact ? Ref::immediate(upper_half(narrow).bits, Width::Short)
                         : Ref::immediate(exact.bits, Width::Long);
}

Builder::Builder(const Graph& graph, unsigned elements, bool relaxed, bool plain_roots,
                 NodeFactors factors)
    : graph_(graph), relaxed_(relaxed), plain_roots_(plain_roots), factors_(std::move(factors)) {
  loop_.elements = elements;
  const std::size_t n = graph.nodes.size();
  node_uses_.assign(n, 0);
  terms_.resize(n);
  integers_.resize(n);
  inputs_.assign(graph.variables.size(), none);
  // Only nodes that a contribution needs count as readers.
  const auto count_use = [&](NodeId id) {
    if (id != no_node) ++node_uses_[index(id)];
  };
  for (const Contribution& c : graph.contributions)
    for (const NodeId id : {c.value, c.payload, c.condition}) count_use(id);
  nonnegative_ = nonnegative_nodes(graph);
  const std::vector<bool> needed = needed_nodes(graph);
  for (std::size_t i = 0; i < n; ++i)
    if (needed[i])
      for (const NodeId id : {graph.nodes[i].a, graph.nodes[i].b, graph.nodes[i].c}) count_use(id);
}

Width Builder::width_of(const Ref& ref) const {
  if (ref.kind == Ref::Kind::Value) return loop_.value(ref.value).width;
  return ref.width;
}

bool Builder::invariant(const Ref& ref) const {
  return ref.kind != Ref::Kind::Value || loop_.value(ref.value).origin == Origin::Invariant;
}

Ref Builder::immediate(double number) { return constant_ref(number); }

Ref Builder::bits(std::uint64_t short_bits) { return Ref::immediate(short_bits, Width::Short); }

/// Emit an operation, or reuse the value of an equal one (value numbering). Operations on loop
/// invariants are hoisted out of the loop.
Ref Builder::emit(Op op, Width width, Ref a, Ref b) {
  // An operation holds one immediate: a second one needs a value of its own.
  if (a.kind == Ref::Kind::Immediate && b.kind == Ref::Kind::Immediate &&
      (a.bits != b.bits || a.width != b.width))
    a = emit(Op::Upass, a.width, a);
  auto side = [](const Ref& r) {
    return r.kind == Ref::Kind::Value
               ? std::array<std::int64_t, 2>{1, r.value}
               : std::array<std::int64_t, 2>{2 + static_cast<std::int64_t>(r.width) * 2 +
                                                 static_cast<std::int64_t>(r.bits >> 64) * 8,
                                             static_cast<std::int64_t>(r.bits)};
  };
  const auto ka = side(a);
  const auto kb = b.kind == Ref::Kind::None ? std::array<std::int64_t, 2>{0, 0} : side(b);
  const Key key{op, width, {ka[0], ka[1], kb[0], kb[1]}};
  if (const auto found = value_numbers_.find(key); found != value_numbers_.end())
    return Ref::of(found->second);

  MachineOp made{.op = op, .width = width, .in = {a, b}, .where = where_};
  if (invariant(a) && invariant(b)) {
    made.out = new_value({.origin = Origin::Invariant, .width = width});
    loop_.setup.push_back(made);
  } else {
    made.out = append_op(made).value;
  }
  value_numbers_.emplace(key, made.out);
  return Ref::of(made.out);
}

/// Add a value; one without a name is named after its number.
ValueId Builder::new_value(MachineValue value) {
  const auto id = static_cast<ValueId>(loop_.values.size());
  if (value.name.empty()) value.name = "t" + std::to_string(id);
  loop_.values.push_back(std::move(value));
  return id;
}

/// Append an operation of the loop; its result is a new value.
Ref Builder::append_op(MachineOp op) {
  op.out = new_value({.width = op.width, .defs = {static_cast<OpId>(loop_.ops.size())}});
  loop_.ops.push_back(op);
  return Ref::of(op.out);
}

ValueId Builder::new_accumulator(std::int32_t variable, Width width, bool integer) {
  return new_value({.name = graph_.variable(variable).name,
                    .origin = Origin::Accumulator,
                    .width = width,
                    .integer = integer,
                    .variable = variable});
}

/// Predicate an operation on a condition, after the operations that set its mask.
void Builder::predicate(OpId id, Condition condition) {
  MachineOp& op = loop_.op(id);
  op.predicate = condition.mask;
  op.predicate_value = condition.value;
  MachineMask& mask = loop_.mask(condition.mask);
  mask.uses.push_back(id);
  loop_.dependences.push_back({mask.defs.back(), id, loop_.latency()});
}

/// The only operation that writes a computed value, else null.
MachineOp* Builder::producer(const Ref& ref) {
  if (ref.kind != Ref::Kind::Value) return nullptr;
  const MachineValue& v = loop_.value(ref.value);
  if (v.origin != Origin::Computed || v.defs.size() != 1) return nullptr;
  return &loop_.op(v.defs[0]);
}

Ref Builder::input(std::int32_t variable) {
  ValueId& known = inputs_[index(variable)];
  if (known != none) return Ref::of(known);
  const GraphVariable& v = graph_.variable(variable);
  const bool source = v.kind == VarKind::Source;
  const Width width = width_for(v.type);
  known = new_value({.name = v.name,
                     .origin = source ? Origin::Field : Origin::Invariant,
                     .width = width,
                     .scalar = source || v.kind == VarKind::Param,
                     .integer = v.type == Type::Int,
                     .variable = variable});
  if (source) {
    loop_.value(known).defs = {static_cast<OpId>(loop_.ops.size())};
    loop_.ops.push_back({.op = Op::Bget, .width = width, .out = known, .field = known});
  }
  return Ref::of(known);
}

const Term& Builder::term(NodeId id) {
  std::optional<Term>& known = terms_[index(id)];
  if (!known) {
    known = make_term(id);
    const double factor = graph_.node(id).fn == Fn::Mul ? 1 : factor_of(id);
    if (factor != 1 && !known->constant)
      known = with_scale(*known, known->scale * factor, width_for(graph_.node(id).type));
    if (!known->constant && known->ref.kind == Ref::Kind::Value)
      ++nodes_of_value_[known->ref.value];
  }
  return *known;
}

/// Whether the node divides by the square root `operand`: one function computes both.
bool Builder::inverse_root(const Node& node, NodeId operand) const {
  const bool divides =
      (node.fn == Fn::Div && operand == node.b && node.a != node.b) || node.fn == Fn::Reciprocal;
  return divides && graph_.node(operand).fn == Fn::Sqrt;
}
Term Builder::root_operand(NodeId root) { return term(graph_.node(root).a); }

double Builder::factor_of(NodeId id) const {
  const auto found = factors_.find(id);
  return found == factors_.end() ? 1 : found->second;
}

Term Builder::make_term(NodeId node_id) {
  const Node& node = graph_.node(node_id);
  const Width width = width_for(node.type);
  // Operands first, so that each operation carries its own source range.
  Term a, b;
  for (const NodeId id : {node.a, node.b, node.c}) {
    if (id == no_node || inverse_root(node, id)) continue;
    const Type type = graph_.node(id).type;
    if (type != Type::Short && type != Type::Long) continue;
    const Term& operand = term(id);
    if (id == node.a) a = operand;
    if (id == node.b) b = operand;
  }
  where_ = node.where;
  switch (node.fn) {
    case Fn::Input:
      if (node.type != Type::Int) return {input(node.variable)};
      break;
    case Fn::Constant:
      return Term::of(node.type == Type::Int ? static_cast<double>(node.integer) : node.number);
    case Fn::Add:
      return add(a, b, width, node.a, node.b);
    case Fn::Sub:
      return add(a, -b, width, node.a, node.b);
    case Fn::Neg:
      return -a;
    case Fn::Mul:
      return multiplied(a, b, factor_of(node_id), width);
    case Fn::Div:
      if (inverse_root(node, node.b)) return multiply(a, rsqrt(root_operand(node.b), width), width);
      return multiply(a, reciprocal(b, width), width);
    case Fn::Reciprocal:
      if (inverse_root(node, node.a)) return rsqrt(root_operand(node.a), width);
      return reciprocal(a, width);
    case Fn::Convert: {
      const Node& from = graph_.node(node.a);
      if (from.fn == Fn::Constant && from.type == Type::Int)
        return Term::of(static_cast<double>(from.integer));
      if (from.type == Type::Int) return {number_of(integer(node.a), width)};
      if (!a.constant && width == Width::Short) a.ref = short_of(a.ref);
      // An operation on bits rounds on engines whose numbers have more bits than a short, too.
      if (!a.constant && node.integer != 0 && graph_.in_longs)
        return {leading_bits(short_of(plain(a, width_of(a.ref))), 0)};
      return a;
    }
    case Fn::Lookup:
      return {table_lookup(node)};
    case Fn::Select:
      return choose(node);
    default:
      if (const Function* const f = function_of(node.fn)) {
        const bool known = a.constant && (node.b == no_node || b.constant);
        return known ? Term::of(f->value(a.number, b.number, static_cast<int>(node.integer)))
                     : f->lower(*this, node, a, b);
      }
  }
  throw Error(ErrorCategory::Internal, "an integer or a table cannot be used as a number here");
}

/// A long number as a short: rounded by its own operation.
Ref Builder::short_of(const Ref& ref) {
  if (width_of(ref) == Width::Short) return ref;
  return emit(Op::Fcvt, Width::Short, ref);
}

/// The product, stored `factor` times as large as its scale has it: a constant takes the factor in.
Term Builder::multiplied(Term a, Term b, double factor, Width width) {
  if (a.constant) std::swap(a, b);
  if (factor != 1 && !a.constant && b.constant && b.number != 0) {
    Term product = multiply(a, Term::of(b.number * factor), width);
    product.scale *= factor;
    return product;
  }
  const Term product = multiply(a, b, width);
  if (factor == 1 || product.constant) return product;
  return with_scale(product, product.scale * factor, width);
}

/// The product. Scales multiply; a constant power of two is absorbed by the scale, as is any
/// constant if the scale is not trivial.
Term Builder::multiply(Term a, Term b, Width width) {
  if (a.constant && b.constant) return Term::of(a.number * b.number);
  if (a.constant) std::swap(a, b);
  if (b.constant) {
    const double c = b.number;
    if (c != 0 && (power_of_two(c) || !power_of_two(a.scale) || relaxed_)) {
      a.scale /= c;
      return a;
    }
    const Ref factor = immediate(c);
    const Op op =
        width == Width::Long && width_of(a.ref) == Width::Long && factor.width == Width::Long
            ? Op::Dmul
            : Op::Fmul;
    // The multiplier truncates its second operand to 25 bits, so a long goes first.
    if (factor.width == Width::Long && width_of(a.ref) == Width::Short)
      return {emit(op, width, factor, a.ref), a.scale};
    if (factor.width == Width::Long && op == Op::Fmul)
      return {emit(op, width, factor, short_of(a.ref)), a.scale};
    return {emit(op, width, a.ref, factor), a.scale};
  }
  const double scale = a.scale * b.scale;
  Ref x = a.ref, y = b.ref;
  if (width_of(y) == Width::Long && width_of(x) == Width::Short) std::swap(x, y);
  const bool two_longs = width_of(x) == Width::Long && width_of(y) == Width::Long;
  if (two_longs && width == Width::Short) {
    // One multiplier pass would truncate the second operand: round an invariant to a short
    // outside the loop, else take two multiplier passes.
    if (invariant(x) && !invariant(y)) std::swap(x, y);
    if (invariant(y)) return {emit(Op::Fmul, width, x, short_of(y)), scale};
    return {emit(Op::Dmul, width, x, y), scale};
  }
  if (!two_longs && x.kind == Ref::Kind::Value && y.kind == Ref::Kind::Value &&
      width_of(x) == width_of(y) && y.value < x.value)
    std::swap(x, y);
  return {emit(two_longs ? Op::Dmul : Op::Fmul, width, x, y), scale};
}

/// The stored number with another scale.
Term Builder::with_scale(const Term& t, double scale, Width width) {
  if (t.constant) return {immediate(t.number * scale), scale};
  if (t.scale == scale) return t;
  const double factor = scale / t.scale;
  if (factor == -1) return {emit(Op::Fsub, width, immediate(0), t.ref), scale};
  const Ref f = immediate(factor);
  if (f.width == Width::Short) return {emit(Op::Fmul, width, t.ref, f), scale};
  if (width_of(t.ref) == Width::Short) return {emit(Op::Fmul, width, f, t.ref), scale};
  return {emit(Op::Dmul, width, t.ref, f), scale};
}

/// The number itself, with scale 1.
Ref Builder::plain(const Term& t, Width width) {
  if (t.constant) return immediate(t.number);
  return with_scale(t, 1, width).ref;
}

/// Gives two terms scales of the same magnitude.
void Builder::align(Term& a, NodeId of_a, Term& b, NodeId of_b, Width width) {
  constexpr double rounding = 1e-14;  // of scales that are equal, but were computed differently
  const double ratio = std::abs(a.scale) / std::abs(b.scale);
  if (std::abs(ratio - 1) < rounding) {
    b.scale = std::copysign(a.scale, b.scale);
    return;
  }
  // Rescale an invariant operand, which is free in the loop, else the one with a nontrivial scale.
  const bool second = invariant(b.ref) || (!invariant(a.ref) && std::abs(a.scale) == 1);
  Term& other = second ? b : a;
  if (const NodeId id = second ? of_b : of_a; id != no_node)
    corrections_.emplace(id, second ? ratio : 1 / ratio);
  other = with_scale(other, std::copysign((second ? a : b).scale, other.scale), width);
}

Term Builder::add(Term a, Term b, Width width, NodeId of_a, NodeId of_b) {
  if (a.constant && b.constant) return Term::of(a.number + b.number);
  if (a.constant) {
    // c + b: the constant takes the scale of b, and the sum its sign.
    const Ref c = immediate(a.number * std::abs(b.scale));
    if (b.scale < 0) return {emit(Op::Fsub, width, c, b.ref), -b.scale};
    return {emit(Op::Fadd, width, b.ref, c), b.scale};
  }
  if (b.constant) {
    if (b.number == 0) return a;
    if (a.scale < 0) return add(b, a, width);
    const double c = b.number * a.scale;
    if (c < 0) return {emit(Op::Fsub, width, a.ref, immediate(-c)), a.scale};
    return {emit(Op::Fadd, width, a.ref, immediate(c)), a.scale};
  }
  align(a, of_a, b, of_b, width);
  const double scale = std::abs(a.scale);
  if (a.scale > 0 && b.scale > 0) {
    if (b.ref.value < a.ref.value) std::swap(a, b);
    return {emit(Op::Fadd, width, a.ref, b.ref), scale};
  }
  if (a.scale > 0) return {emit(Op::Fsub, width, a.ref, b.ref), scale};
  if (b.scale > 0) return {emit(Op::Fsub, width, b.ref, a.ref), scale};
  return {emit(Op::Fadd, width, a.ref, b.ref), -scale};
}

/// Lowering recurses from the results to the inputs. A deep graph is lowered in steps of limited
/// depth, so that the stack suffices.
void Builder::lower_deep_chains() {
  constexpr unsigned depth_step = 500;
  const std::size_t n = graph_.nodes.size();
  const std::vector<bool> needed = needed_nodes(graph_);
  std::vector<unsigned> depth(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Node& node = graph_.nodes[i];
    for (const NodeId in : {node.a, node.b, node.c})
      if (in != no_node) depth[i] = std::max(depth[i], depth[index(in)] + 1);
    if (!needed[i] || depth[i] == 0 || depth[i] % depth_step != 0) continue;
    if (node.type == Type::Int) (void)integer(static_cast<NodeId>(i));
    if (node.type == Type::Short || node.type == Type::Long) (void)term(static_cast<NodeId>(i));
  }
}

MachineLoop Builder::build() {
  lower_deep_chains();
  for (std::size_t v = 0; v < graph_.variables.size(); ++v)
    if (graph_.variables[v].kind == VarKind::Result) contribute(v);
  finish_results();
  collect_uses();
  find_compatible_predicates();
  return std::move(loop_);
}

/// Record the readers of each value. Only inputs that a contribution needs have loads.
void Builder::collect_uses() {
  for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
    for (const Ref& r : loop_.ops[i].in) {
      if (r.kind != Ref::Kind::Value) continue;
      MachineValue& v = loop_.value(r.value);
      if (v.origin == Origin::Accumulator && r.value == loop_.ops[i].out) continue;
      if (v.uses.empty() || v.uses.back() != static_cast<OpId>(i))
        v.uses.push_back(static_cast<OpId>(i));
    }
  }
}

namespace {

/// Multiplier passes for one item: two for a product of longs.
unsigned multiplier_passes(const MachineLoop& loop) {
  unsigned passes = 0;
  for (const MachineOp& op : loop.ops)
    if (op.slot() == 0) passes += op.dmul() ? 2 : 1;
  return passes;
}

}  // namespace

MachineLoop lower(const Graph& graph, unsigned elements, bool relaxed, bool plain_roots) {
  Builder builder(graph, elements, relaxed, plain_roots);
  MachineLoop loop = builder.build();
  NodeFactors factors = shared_factors(graph, builder.uses(), builder.corrections());
  if (factors.empty()) return loop;
  MachineLoop other = Builder(graph, elements, relaxed, plain_roots, std::move(factors)).build();
  return multiplier_passes(other) < multiplier_passes(loop) ? other : loop;
}

}  // namespace gdr::kc
