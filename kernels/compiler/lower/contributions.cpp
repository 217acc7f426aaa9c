// Results: accumulators and their scales, and the operations compatible with a predicate.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "gdr/error.hpp"
#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {

void Builder::contribute(std::size_t variable) {
  std::vector<const Contribution*> mine;
  for (const Contribution& c : graph_.contributions)
    if (c.result == static_cast<std::int32_t>(variable)) mine.push_back(&c);

  if (!mine.empty() && mine.front()->payload != no_node) return contribute_with_index(mine);
  for (const Contribution& c : graph_.contributions)
    if (c.payload_result == static_cast<std::int32_t>(variable)) return;  // stored with its key

  const GraphVariable& result = graph_.variables[variable];
  if (result.list_size > 0) return make_list(variable, mine);
  const Width width = result.type == Type::Long ? Width::Long : Width::Short;
  const ValueId acc =
      new_accumulator(static_cast<std::int32_t>(variable), width, result.type == Type::Int);
  MachineResult made;
  made.accumulator = acc;
  made.variable = static_cast<std::int32_t>(variable);
  std::vector<Term> terms;
  for (const Contribution* c : mine) {
    Term t;
    if (result.type == Type::Int) {
      t.ref = integer(c->value);
    } else {
      t = term(c->value);
      const Width own = graph_.node(c->value).type == Type::Long ? Width::Long : Width::Short;
      if (c->reduction != Reduction::Sum && t.scale < 0) t = with_scale(t, -t.scale, own);
    }
    terms.push_back(t);
  }
  // The accumulator takes the scale of most of its terms.
  std::map<double, std::size_t> with_scale_of;
  for (const Term& t : terms) ++with_scale_of[std::abs(t.scale)];
  double scale = 1;
  std::size_t best = 0;
  for (const Term& t : terms) {
    if (t.constant) continue;
    if (const std::size_t same = with_scale_of[std::abs(t.scale)]; same > best) {
      best = same;
      scale = std::abs(t.scale);
    }
  }
  made.factor = 1 / scale;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Term t = terms[i];
    const Contribution& c = *mine[i];
    const Width own = graph_.node(c.value).type == Type::Long ? Width::Long : Width::Short;
    bool negative = c.negated;
    if (t.constant) {
      t.ref = immediate(t.number * scale);
    } else {
      if (std::abs(t.scale) != scale) t = with_scale(t, std::copysign(scale, t.scale), own);
      if (t.scale < 0) negative = !negative;
    }
    MachineOp op;
    op.width = width;
    op.in = {Ref::of(acc), t.ref};
    op.out = acc;
    const bool integer_sum = result.type == Type::Int;
    switch (c.reduction) {
      case Reduction::Sum:
        op.op = integer_sum ? (negative ? Op::Isub : Op::Iadd) : negative ? Op::Fsub : Op::Fadd;
        made.reduction = integer_sum ? Op::Iadd : Op::Fadd;
        break;
      case Reduction::Min:
        op.op = made.reduction = integer_sum ? Op::Imin : Op::Fmin;
        break;
      case Reduction::Max:
        op.op = made.reduction = integer_sum ? Op::Imax : Op::Fmax;
        break;
      case Reduction::Append:  // lists only, handled above
        break;
    }
    op.where = c.where;
    accumulate(op, c.condition);
  }
  loop_.results.push_back(made);
}

/// Minimum or maximum of a key with its index, in one long: the key, a nonnegative short, in the
/// upper half orders longs as integers; the index is in the lower half.
void Builder::contribute_with_index(const std::vector<const Contribution*>& mine) {
  const Contribution& first = *mine.front();
  const ValueId acc = new_accumulator(first.result, Width::Long, true);
  const Op reduction = first.reduction == Reduction::Min ? Op::Imin : Op::Imax;
  for (const Contribution* c : mine) {
    const Term key = term(c->value);
    const Ref index = integer(c->payload);
    const Ref both = emit(Op::Ior, Width::Long, upper_key(key), index);
    MachineOp op;
    op.op = reduction;
    op.width = Width::Long;
    op.in = {Ref::of(acc), both};
    op.out = acc;
    op.where = c->where;
    accumulate(op, c->condition);
  }
  MachineResult made;
  made.accumulator = acc;
  made.reduction = reduction;
  made.variable = first.result;
  loop_.results.push_back(made);
  made.variable = first.payload_result;
  made.index = true;
  loop_.results.push_back(made);
}

/// A key as the upper half of a long. A constant is shifted at compile time: the shift has no
/// second immediate.
Ref Builder::upper_key(const Term& key) {
  if (!key.constant)
    return emit(Op::Ishl, Width::Long, short_of(plain(key, Width::Short)), bits(Short::bit_count));
  Flags flags = no_flags;
  Ref made = immediate(key.number);
  made.width = Width::Long;
  made.bits = u128{upper_half(short_from_double(key.number, flags)).bits} << Short::bit_count;
  return made;
}

/// Emit an operation on an accumulator or list, under its condition.
OpId Builder::accumulate(MachineOp op, NodeId condition_node) {
  const bool conditional = condition_node != no_node;
  const Condition c = conditional ? condition(condition_node) : Condition{};
  const auto id = static_cast<OpId>(loop_.ops.size());
  if (op.out != none) loop_.value(op.out).defs.push_back(id);
  loop_.ops.push_back(op);
  if (conditional) predicate(id, c);
  return id;
}

/// An operation may share an instruction with a predicated one if its result is unused where the
/// mask is off: all its readers have the same predicate or are compatible with it.
void Builder::find_compatible_predicates() {
  for (std::size_t i = loop_.ops.size(); i-- > 0;) {
    MachineOp& op = loop_.ops[i];
    if (op.out == none || op.sets != none) continue;
    const MachineValue& v = loop_.value(op.out);
    if (v.origin == Origin::Accumulator || v.defs.size() != 1 || v.uses.empty()) continue;
    std::uint64_t set = ~std::uint64_t{0}, clear = ~std::uint64_t{0};
    for (const OpId u : v.uses) {
      const MachineOp& reader = loop_.op(u);
      std::uint64_t own_set = reader.compatible_if_set, own_clear = reader.compatible_if_clear;
      if (reader.predicate != none && reader.predicate < max_tracked_masks) {
        const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(reader.predicate);
        (reader.predicate_value ? own_set : own_clear) |= bit;
      }
      set &= own_set;
      clear &= own_clear;
    }
    op.compatible_if_set = set;
    op.compatible_if_clear = clear;
  }
  for (MachineMask& m : loop_.masks) {
    // The mask value that suppresses the contribution: the opposite of its last use.
    for (const OpId u : m.uses) {
      const MachineOp& op = loop_.op(u);
      if (op.sets == none) m.off = !op.predicate_value;
    }
  }
}

}  // namespace gdr::kc
