#include "kernels/compiler/lower/builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/isa/table.hpp"
#include "emulator/numeric/float.hpp"
#include "gdr/error.hpp"

namespace gdr::kc {
namespace {

bool power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

Width width_for(Type type) { return type == Type::Long ? Width::Long : Width::Short; }

}  // namespace

Ref constant_ref(double number) {
  Flags flags = no_flags;
  const Long exact = long_from_double(number);
  const Long narrow = short_from_double(number, flags);
  Ref r;
  r.kind = Ref::Kind::Immediate;
  if (narrow == exact) {
    r.width = Width::Short;
    r.bits = upper_half(narrow).bits;
  } else {
    r.width = Width::Long;
    r.bits = exact.bits;
  }
  return r;
}

Builder::Builder(const Graph& graph, const LowerOptions& options)
    : graph_(graph), options_(options) {
  loop_.elements = options.elements;
  const std::size_t n = graph.nodes.size();
  node_uses_.assign(n, 0);
  terms_.resize(n);
  have_term_.assign(n, false);
  integers_.resize(n);
  have_integer_.assign(n, false);
  inputs_.assign(graph.variables.size(), none);
  // Only nodes that a contribution needs count as readers.
  const auto count_use = [&](NodeId id) {
    if (id != no_node) ++node_uses_[static_cast<std::size_t>(id)];
  };
  for (const Contribution& c : graph.contributions)
    for (const NodeId id : {c.value, c.payload, c.condition}) count_use(id);
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

Ref Builder::bits(std::uint64_t short_bits) {
  return {Ref::Kind::Immediate, none, Width::Short, short_bits};
}

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

  MachineOp made;
  made.op = op;
  made.width = width;
  made.in = {a, b};
  made.where = where_;
  if (invariant(a) && invariant(b)) {
    MachineValue value;
    value.origin = Origin::Invariant;
    value.width = width;
    made.out = static_cast<ValueId>(loop_.values.size());
    value.name = "t" + std::to_string(made.out);
    loop_.setup.push_back(made);
    loop_.values.push_back(std::move(value));
  } else {
    made.out = append_op(made).value;
  }
  value_numbers_.emplace(key, made.out);
  return Ref::of(made.out);
}

/// Append an operation of the loop; its result is a new value.
Ref Builder::append_op(MachineOp op) {
  MachineValue value;
  value.width = op.width;
  op.out = static_cast<ValueId>(loop_.values.size());
  value.name = "t" + std::to_string(op.out);
  value.defs.push_back(static_cast<OpId>(loop_.ops.size()));
  loop_.values.push_back(std::move(value));
  loop_.ops.push_back(op);
  return Ref::of(op.out);
}

ValueId Builder::new_accumulator(std::int32_t variable, Width width, bool integer) {
  MachineValue value;
  value.name = graph_.variable(variable).name;
  value.origin = Origin::Accumulator;
  value.width = width;
  value.integer = integer;
  value.variable = variable;
  loop_.values.push_back(std::move(value));
  return static_cast<ValueId>(loop_.values.size() - 1);
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
MachineOp* Builder::writer(const Ref& ref) {
  if (ref.kind != Ref::Kind::Value) return nullptr;
  const MachineValue& v = loop_.value(ref.value);
  if (v.origin != Origin::Computed || v.defs.size() != 1) return nullptr;
  return &loop_.ops[static_cast<std::size_t>(v.defs[0])];
}

Ref Builder::input(std::int32_t variable) {
  ValueId& known = inputs_[static_cast<std::size_t>(variable)];
  if (known != none) return Ref::of(known);
  const GraphVariable& v = graph_.variable(variable);
  MachineValue value;
  value.name = v.name;
  value.width = width_for(v.type);
  value.integer = v.type == Type::Int;
  value.variable = variable;
  known = static_cast<ValueId>(loop_.values.size());
  if (v.kind == VarKind::Source) {
    value.origin = Origin::Field;
    value.scalar = true;
    MachineOp load;
    load.op = Op::Bget;
    load.width = value.width;
    load.out = known;
    load.field = known;
    value.defs.push_back(static_cast<OpId>(loop_.ops.size()));
    loop_.ops.push_back(load);
  } else {
    value.origin = Origin::Invariant;
    value.scalar = v.kind == VarKind::Param;
  }
  loop_.values.push_back(std::move(value));
  return Ref::of(known);
}

const Term& Builder::term(NodeId id) {
  const auto at = static_cast<std::size_t>(id);
  if (!have_term_[at]) {
    const Term made = make_term(graph_.nodes[at]);
    terms_[at] = made;
    have_term_[at] = true;
    if (!made.constant && made.ref.kind == Ref::Kind::Value) ++nodes_of_value_[made.ref.value];
  }
  return terms_[at];
}

/// Whether the node divides by the square root `operand`: one function computes both.
bool Builder::inverse_root(const Node& node, NodeId operand) const {
  const bool divides =
      (node.fn == Fn::Div && operand == node.b && node.a != node.b) || node.fn == Fn::Reciprocal;
  return divides && graph_.node(operand).fn == Fn::Sqrt;
}
Term Builder::root_operand(NodeId root) { return term(graph_.node(root).a); }

Term Builder::make_term(const Node& node) {
  const Width width = width_for(node.type);
  // Operands first, so that each operation carries its own source range.
  for (const NodeId id : {node.a, node.b, node.c}) {
    if (id == no_node || inverse_root(node, id)) continue;
    const Type type = graph_.node(id).type;
    if (type == Type::Short || type == Type::Long) term(id);
  }
  where_ = node.where;
  switch (node.fn) {
    case Fn::Input: {
      if (node.type != Type::Int) return {input(node.variable), 1, false, 0};
      break;
    }
    case Fn::Constant:
      return {
          {}, 1, true, node.type == Type::Int ? static_cast<double>(node.integer) : node.number};
    case Fn::Add:
      return add(term(node.a), term(node.b), width);
    case Fn::Sub: {
      Term b = term(node.b);
      if (b.constant) {
        b.number = -b.number;
      } else {
        b.scale = -b.scale;
      }
      return add(term(node.a), b, width);
    }
    case Fn::Neg: {
      Term a = term(node.a);
      if (a.constant) {
        a.number = -a.number;
      } else {
        a.scale = -a.scale;
      }
      return a;
    }
    case Fn::Mul: {
      if (node.a == node.b) {
        const Term t = term(node.a);
        return multiply(t, t, width);
      }
      const Term a = term(node.a);
      return multiply(a, term(node.b), width);
    }
    case Fn::Div: {
      const Term a = term(node.a);
      if (inverse_root(node, node.b)) return multiply(a, rsqrt(root_operand(node.b), width), width);
      return multiply(a, reciprocal(term(node.b), width), width);
    }
    case Fn::Reciprocal:
      if (inverse_root(node, node.a)) return rsqrt(root_operand(node.a), width);
      return reciprocal(term(node.a), width);
    case Fn::Rsqrt:
      return rsqrt(term(node.a), width);
    case Fn::Sqrt:
      return square_root(term(node.a), width);
    case Fn::Exp:
      return exponential(term(node.a), width);
    case Fn::Abs:
      return magnitude(term(node.a), width);
    case Fn::Min:
    case Fn::Max: {
      const Term a = term(node.a);
      return extreme(node.fn == Fn::Min ? Op::Fmin : Op::Fmax, a, term(node.b), width);
    }
    case Fn::Convert: {
      const Node& a = graph_.node(node.a);
      if (a.fn == Fn::Constant && a.type == Type::Int)
        return {{}, 1, true, static_cast<double>(a.integer)};
      if (a.type == Type::Int) return {number_of(integer(node.a), width), 1, false, 0};
      Term t = term(node.a);
      if (!t.constant && width == Width::Short && width_of(t.ref) == Width::Long)
        t.ref = short_of(t.ref);
      return t;
    }
    case Fn::Lookup:
      return {table_lookup(node), 1, false, 0};
    case Fn::Select:
      return choose(node);
    default:
      break;
  }
  throw Error(ErrorCategory::Internal, "an integer or a table cannot be used as a number here");
}

/// A long number as a short: rounded by its own operation.
Ref Builder::short_of(const Ref& ref) {
  if (width_of(ref) == Width::Short) return ref;
  return emit(Op::Fcvt, Width::Short, ref);
}

/// The product. Scales multiply; a constant power of two is absorbed by the scale, as is any
/// constant if the scale is not trivial.
Term Builder::multiply(Term a, Term b, Width width) {
  if (a.constant && b.constant) return {{}, 1, true, a.number * b.number};
  if (a.constant) std::swap(a, b);
  if (b.constant) {
    const double c = b.number;
    if (c != 0 && (power_of_two(c) || !power_of_two(a.scale) || options_.relaxed)) {
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
      return {emit(op, width, factor, a.ref), a.scale, false, 0};
    if (factor.width == Width::Long && op == Op::Fmul)
      return {emit(op, width, factor, short_of(a.ref)), a.scale, false, 0};
    return {emit(op, width, a.ref, factor), a.scale, false, 0};
  }
  const double scale = a.scale * b.scale;
  Ref x = a.ref, y = b.ref;
  if (width_of(y) == Width::Long && width_of(x) == Width::Short) std::swap(x, y);
  const bool two_longs = width_of(x) == Width::Long && width_of(y) == Width::Long;
  if (two_longs && width == Width::Short) {
    // One pass of the multiplier would truncate the second operand: round an invariant to a short
    // outside the loop, else take two passes.
    if (invariant(x) && !invariant(y)) std::swap(x, y);
    if (invariant(y)) return {emit(Op::Fmul, width, x, short_of(y)), scale, false, 0};
    return {emit(Op::Dmul, width, x, y), scale, false, 0};
  }
  if (!two_longs && x.kind == Ref::Kind::Value && y.kind == Ref::Kind::Value &&
      width_of(x) == width_of(y) && y.value < x.value)
    std::swap(x, y);
  return {emit(two_longs ? Op::Dmul : Op::Fmul, width, x, y), scale, false, 0};
}

/// The stored number with another scale.
Term Builder::with_scale(const Term& t, double scale, Width width) {
  if (t.constant) return {immediate(t.number * scale), scale, false, 0};
  if (t.scale == scale) return t;
  const double factor = scale / t.scale;
  if (factor == -1) return {emit(Op::Fsub, width, immediate(0), t.ref), scale, false, 0};
  const Ref f = immediate(factor);
  const Width have = width_of(t.ref);
  Ref made;
  if (f.width == Width::Short) {
    made = emit(Op::Fmul, width, t.ref, f);
  } else if (have == Width::Short) {
    made = emit(Op::Fmul, width, f, t.ref);
  } else {
    made = emit(Op::Dmul, width, t.ref, f);
  }
  return {made, scale, false, 0};
}

/// The number itself, with scale 1.
Ref Builder::plain(const Term& t, Width width) {
  if (t.constant) return immediate(t.number);
  return with_scale(t, 1, width).ref;
}

Term Builder::add(Term a, Term b, Width width) {
  if (a.constant && b.constant) return {{}, 1, true, a.number + b.number};
  if (a.constant) {
    // c + b: the constant takes the scale of b, and the sum its sign.
    const Ref c = immediate(a.number * std::abs(b.scale));
    if (b.scale < 0) return {emit(Op::Fsub, width, c, b.ref), -b.scale, false, 0};
    return {emit(Op::Fadd, width, b.ref, c), b.scale, false, 0};
  }
  if (b.constant) {
    if (b.number == 0) return a;
    if (a.scale < 0) return add(b, a, width);
    const double c = b.number * a.scale;
    if (c < 0) return {emit(Op::Fsub, width, a.ref, immediate(-c)), a.scale, false, 0};
    return {emit(Op::Fadd, width, a.ref, immediate(c)), a.scale, false, 0};
  }
  if (std::abs(a.scale) != std::abs(b.scale)) {
    // Rescale an invariant operand, which is free in the loop, else the one with a nontrivial
    // scale.
    const bool second = invariant(b.ref) || (!invariant(a.ref) && std::abs(a.scale) == 1);
    if (second) {
      b = with_scale(b, std::copysign(std::abs(a.scale), b.scale), width);
    } else {
      a = with_scale(a, std::copysign(std::abs(b.scale), a.scale), width);
    }
  }
  const double scale = std::abs(a.scale);
  if (a.scale > 0 && b.scale > 0) {
    if (b.ref.value < a.ref.value) std::swap(a, b);
    return {emit(Op::Fadd, width, a.ref, b.ref), scale, false, 0};
  }
  if (a.scale > 0) return {emit(Op::Fsub, width, a.ref, b.ref), scale, false, 0};
  if (b.scale > 0) return {emit(Op::Fsub, width, b.ref, a.ref), scale, false, 0};
  return {emit(Op::Fadd, width, a.ref, b.ref), -scale, false, 0};
}

/// An integer as a number: added to the low bits of 1.5 * 2^60, which is then subtracted.
Ref Builder::number_of(const Ref& integer, Width width) {
  const Ref magic = immediate(1.5 * 1152921504606846976.0);
  Ref wide = magic;
  if (magic.width == Width::Short) {
    wide.width = Width::Long;
    wide.bits = magic.bits << Short::bit_count;
  }
  const Ref shifted = emit(Op::Iadd, Width::Long, wide, integer);
  return emit(Op::Fsub, width, shifted, magic);
}

/// An element of a table: the index goes to T, and local memory is read at T.
Ref Builder::table_lookup(const Node& node) {
  const GraphVariable& v = graph_.variable(node.variable);
  std::int32_t table = 0;
  while (table < static_cast<std::int32_t>(loop_.tables.size()) &&
         loop_.tables[static_cast<std::size_t>(table)].variable != node.variable)
    ++table;
  if (table == static_cast<std::int32_t>(loop_.tables.size())) {
    MachineTable made;
    made.variable = node.variable;
    made.width = v.type == Type::Long ? Width::Long : Width::Short;
    made.size = v.table_size;
    made.padded = std::max(2U, std::bit_ceil(v.table_size));
    const unsigned shorts = made.padded * shorts_in(made.width);
    made.address = (local_end() + shorts - 1) / shorts * shorts;
    loop_.tables.push_back(made);
  }
  const MachineTable& t = loop_.tables[static_cast<std::size_t>(table)];
  // These operations are never shared: T serves one reader at a time.
  MachineOp made;
  made.where = node.where;
  const auto index_in_t = [&](Op op, const Ref& a, const Ref& b) {
    made.op = op;
    made.width = Width::Long;
    made.in = {a, b};
    const Ref at = append_op(made);
    loop_.value(at.value).in_t = true;
    return at;
  };
  const Ref index = integer(node.a);
  const std::uint64_t base = t.address / shorts_in(t.width);
  Ref at;
  if (index.kind == Ref::Kind::Immediate) {
    const Ref known = bits((static_cast<std::uint64_t>(index.bits) & (t.padded - 1)) | base);
    at = index_in_t(Op::Ior, known, known);
  } else if (base == 0) {
    at = index_in_t(Op::Iand, index, bits(t.padded - 1));
  } else {
    const Ref inside = emit(Op::Iand, Width::Short, index, bits(t.padded - 1));
    at = index_in_t(Op::Ior, inside, bits(base));
  }
  made.op = Op::Upass;
  made.width = t.width;
  made.in = {at, {}};
  made.table = table;
  return append_op(made);
}

Ref Builder::integer(NodeId id) {
  const auto at = static_cast<std::size_t>(id);
  if (!have_integer_[at]) {
    const Ref made = make_integer(graph_.nodes[at]);
    integers_[at] = made;
    have_integer_[at] = true;
  }
  return integers_[at];
}

Ref Builder::make_integer(const Node& node) {
  where_ = node.where;
  switch (node.fn) {
    case Fn::Input:
      return input(node.variable);
    case Fn::Lookup:
      return table_lookup(node);
    case Fn::Abs: {
      const Ref a = integer(node.a);
      return emit(Op::Imax, Width::Short, a, emit(Op::Isub, Width::Short, bits(0), a));
    }
    case Fn::Constant:
      return bits(static_cast<std::uint64_t>(node.integer) & Short::mask);
    case Fn::Add:
    case Fn::Sub: {
      const Ref a = integer(node.a);
      return emit(node.fn == Fn::Add ? Op::Iadd : Op::Isub, Width::Short, a, integer(node.b));
    }
    case Fn::Neg:
      return emit(Op::Isub, Width::Short, bits(0), integer(node.a));
    case Fn::Min:
    case Fn::Max: {
      const Ref a = integer(node.a);
      return emit(node.fn == Fn::Min ? Op::Imin : Op::Imax, Width::Short, a, integer(node.b));
    }
    case Fn::Select: {
      const Condition c = condition(node.a);
      const Ref yes = integer(node.b), no = integer(node.c);
      return select(c, yes, false, no, false, Width::Short);
    }
    default:
      break;
  }
  throw Error(ErrorCategory::Internal, "this operation is not possible on integers");
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
      if (in != no_node) depth[i] = std::max(depth[i], depth[static_cast<std::size_t>(in)] + 1);
    if (!needed[i] || depth[i] == 0 || depth[i] % depth_step != 0) continue;
    if (node.type == Type::Int) (void)integer(static_cast<NodeId>(i));
    if (node.type == Type::Short || node.type == Type::Long) (void)term(static_cast<NodeId>(i));
  }
}

MachineLoop Builder::build() {
  lower_deep_chains();
  for (std::size_t v = 0; v < graph_.variables.size(); ++v)
    if (graph_.variables[v].kind == VarKind::Result) contribute(v);
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

MachineLoop lower(const Graph& graph, const LowerOptions& options) {
  return Builder(graph, options).build();
}

}  // namespace gdr::kc
