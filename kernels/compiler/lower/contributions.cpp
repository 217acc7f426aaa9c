// Results: accumulators and their scales, and the operations compatible with a predicate.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "gdr/error.hpp"
#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {
namespace {

Op operation_of(Reduction reduction, bool ints) {
  switch (reduction) {
    case Reduction::Min:
    case Reduction::And:
      return ints ? Op::Imin : Op::Fmin;
    case Reduction::Max:
    case Reduction::Or:
      return ints ? Op::Imax : Op::Fmax;
    case Reduction::Product:
      return Op::Dmul;
    default:
      return ints ? Op::Iadd : Op::Fadd;
  }
}

}  // namespace

void Builder::contribute(std::size_t variable) {
  std::vector<const Contribution*> mine;
  for (const Contribution& c : graph_.contributions)
    if (c.result == static_cast<std::int32_t>(variable)) mine.push_back(&c);

  const GraphVariable& result = graph_.variables[variable];
  if (result.reduction == Reduction::Smallest || result.reduction == Reduction::Largest)
    return result.ranks > 0 ? contribute_ranked(variable, mine) : void();
  if (result.reduction == Reduction::LogSumExp) return contribute_log_sum(variable);
  if (result.weighted_by >= 0) return;  // with its weights
  if (result.index_result >= 0)
    return std::ranges::all_of(mine, [&](const Contribution* c) { return orders_as_int(*c); })
               ? contribute_with_index(variable, mine)
               : contribute_any_key(variable, mine);
  for (const GraphVariable& key : graph_.variables)
    if (key.index_result == static_cast<std::int32_t>(variable)) return;  // stored with its key

  if (result.list_size > 0) return make_list(variable, mine);
  const bool product = result.reduction == Reduction::Product;
  const Width width = product ? Width::Long : width_for(result.type);
  const bool ints = result.type == Type::Int;
  const ValueId acc = new_accumulator(static_cast<std::int32_t>(variable), width, ints);
  MachineResult made{.accumulator = acc,
                     .variable = static_cast<std::int32_t>(variable),
                     .reduction = operation_of(result.reduction, ints)};
  made.joined = !product;
  if (product) loop_.starts.push_back({acc, long_from_double(1).bits});
  if (result.reduction == Reduction::And) loop_.starts.push_back({acc, 1});
  if (result.reduction == Reduction::Or) loop_.starts.push_back({acc, 0});
  std::vector<Term> terms;
  for (const Contribution* c : mine) {
    Term t;
    if (ints) {
      t.ref = integer(c->value);
    } else {
      t = term(c->value);
      const Width own = width_for(graph_.node(c->value).type);
      if (product && !t.constant) t = with_scale(t, 1, own);
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
    const Width own = width_for(graph_.node(c.value).type);
    bool negative = c.negated;
    if (t.constant) {
      t.ref = immediate(t.number * scale);
    } else {
      if (std::abs(t.scale) != scale) t = with_scale(t, std::copysign(scale, t.scale), own);
      if (t.scale < 0) negative = !negative;
    }
    accumulate({.op = product && width_of(t.ref) == Width::Short ? Op::Fmul
                      : !negative                                ? made.reduction
                      : ints                                     ? Op::Isub
                                                                 : Op::Fsub,
                .width = width,
                .in = {Ref::of(acc), t.ref},
                .out = acc,
                .where = c.where},
               c.condition);
  }
  loop_.results.push_back(made);
}

/// Minimum or maximum of a key with its index, in one long: the key, a nonnegative short, in the
/// upper half orders longs as integers; the index is in the lower half.
void Builder::contribute_with_index(std::size_t variable,
                                    const std::vector<const Contribution*>& mine) {
  const GraphVariable& result = graph_.variables[variable];
  const auto key_result = static_cast<std::int32_t>(variable);
  const ValueId acc = new_accumulator(key_result, Width::Long, true);
  const Op reduction = operation_of(result.reduction, true);
  for (const Contribution* c : mine) {
    const Term key = term(c->value);
    const Ref index = integer(c->payload);
    const Ref both = emit(Op::Ior, Width::Long, upper_key(key), index);
    accumulate({.op = reduction,
                .width = Width::Long,
                .in = {Ref::of(acc), both},
                .out = acc,
                .where = c->where},
               c->condition);
  }
  loop_.results.push_back({.accumulator = acc, .variable = key_result, .reduction = reduction});
  loop_.results.push_back(
      {.accumulator = acc, .variable = result.index_result, .reduction = reduction, .index = true});
}

/// Whether a key is a short whose bits, as an int, have the order of its values: one that its form
/// shows not to be negative.
bool Builder::orders_as_int(const Contribution& c) const {
  const Node& node = graph_.node(c.value);
  const bool narrow = node.type != Type::Long ||
                      (node.fn == Fn::Constant && constant_ref(node.number).width == Width::Short);
  return narrow && nonnegative_[index(c.value)];
}

/// Minimum or maximum of keys of any sign and width, with the index of the least or largest in an
/// accumulator of its own. Masks say whether a key is better, or equal and has a smaller index (as
/// numbers without a sign, so that -1, no index, is the largest); where one does, both accumulators
/// are replaced.
void Builder::contribute_any_key(std::size_t variable,
                                 const std::vector<const Contribution*>& mine) {
  const GraphVariable& result = graph_.variables[variable];
  const auto key_result = static_cast<std::int32_t>(variable);
  const bool least = result.reduction == Reduction::Min;
  const ValueId best = new_accumulator(key_result, Width::Long, false);
  const ValueId number = new_accumulator(result.index_result, Width::Short, true);
  const int latency = loop_.latency();
  double scale = 1;
  for (const Contribution* c : mine)
    if (const Term& key = term(c->value); !key.constant) {
      scale = std::abs(key.scale);
      break;
    }
  struct Written {
    OpId key = none, index = none;
  };
  // The accumulators are read after the contribution before has written them.
  const auto read_after = [&](const Written& before, OpId better, OpId equal, OpId smaller,
                              bool next_item) {
    loop_.dependences.push_back({before.key, better, latency, next_item});
    loop_.dependences.push_back({before.key, equal, latency, next_item});
    loop_.dependences.push_back({before.index, smaller, latency, next_item});
  };
  std::array<OpId, 3> first_reads{};
  Written last;
  for (const Contribution* c : mine) {
    Term key = term(c->value);
    if (!key.constant && key.scale != scale)
      key = with_scale(key, scale, width_for(graph_.node(c->value).type));
    const Ref x = key.constant ? immediate(key.number * scale) : key.ref;
    const Ref index_ref = integer(c->payload);
    const Condition counts = c->condition == no_node ? Condition{} : condition(c->condition);
    where_ = c->where;
    const MaskId taken = new_mask(), same = new_mask();
    loop_.mask(same).off = false;
    const Ref old = Ref::of(best);
    const OpId better =
        set_mask(taken, Op::Fsub, least ? x : old, least ? old : x, MaskFlag::Negative, none, true);
    const OpId equal = set_mask(same, Op::Fsub, x, old, MaskFlag::Zero, none, true);
    const OpId smaller =
        set_mask(taken, Op::Isub, Ref::of(number), index_ref, MaskFlag::Carry, same, true);
    if (c->condition != no_node) {
      loop_.mask(counts.mask).off = !counts.value;
      set_mask(taken, Op::Ipass, bits(1), {}, MaskFlag::Zero, counts.mask, !counts.value);
    }
    const auto store = [&](ValueId to, const Ref& from, Width width) {
      const auto id = static_cast<OpId>(loop_.ops.size());
      loop_.value(to).defs.push_back(id);
      loop_.ops.push_back({.op = width_of(from) == width ? Op::Upass : Op::Fcvt,
                           .width = width,
                           .in = {from, {}},
                           .out = to,
                           .where = c->where});
      predicate(id, {taken, true});
      return id;
    };
    if (last.key == none)
      first_reads = {better, equal, smaller};
    else
      read_after(last, better, equal, smaller, false);
    last.key = store(best, x, Width::Long);
    last.index = store(number, index_ref, Width::Short);
  }
  if (last.key != none) read_after(last, first_reads[0], first_reads[1], first_reads[2], true);
  loop_.results.push_back({.accumulator = best,
                           .variable = key_result,
                           .reduction = least ? Op::Fmin : Op::Fmax,
                           .factor = 1 / scale});
  loop_.results.push_back(
      {.accumulator = number, .variable = result.index_result, .key = key_result});
}

/// A key as the upper half of a long. A constant is shifted at compile time: the shift has no
/// second immediate.
Ref Builder::upper_key(const Term& key) {
  if (!key.constant)
    return emit(Op::Ishl, Width::Long, short_of(plain(key, Width::Short)), bits(Short::bit_count));
  Flags flags = no_flags;
  const u128 bits = upper_half(short_from_double(key.number, flags)).bits;
  return Ref::immediate(bits << Short::bit_count, Width::Long);
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

void Builder::make_list(std::size_t variable, const std::vector<const Contribution*>& mine) {
  const GraphVariable& result = graph_.variables[variable];
  const auto id = static_cast<std::int32_t>(variable);
  const ValueId accumulator = new_accumulator(id, Width::Short, true);
  const auto number = static_cast<std::int32_t>(loop_.lists.size());
  loop_.lists.push_back({.variable = id,
                         .accumulator = accumulator,
                         .capacity = result.list_size,
                         .stride = std::bit_ceil(loop_.elements),
                         .address = loop_.local_end()});
  OpId before = none;
  for (const Contribution* c : mine) before = append(number, *c, before);
}

/// The next entry is one stride after the last one. Appends to a full list store to the overflow
/// slot behind it, shared by all elements. `before` stored the previous entry of this source, if
/// any; returns the store.
OpId Builder::append(std::int32_t number, const Contribution& c, OpId before) {
  const MachineList list = loop_.lists[index(number)];
  const Ref entry = integer(c.value);
  const Ref last = Ref::of(list.accumulator);

  const OpId advanced = accumulate({.op = Op::Iadd,
                                    .width = Width::Short,
                                    .in = {last, bits(list.stride)},
                                    .out = list.accumulator,
                                    .where = c.where},
                                   c.condition);
  const Ref at = append_op({.op = Op::Imin,
                            .width = Width::Long,
                            .in = {last, bits(list.overflow_slot())},
                            .where = c.where});
  MachineValue& address = loop_.value(at.value);
  address.integer = address.in_t = true;
  const OpId limited = address.defs.front();
  const OpId stored = accumulate(
      {.op = Op::Upass, .width = Width::Short, .in = {at, entry}, .list = number, .where = c.where},
      c.condition);

  // The address is read between this advance and the next one, of this source or the next.
  loop_.dependences.push_back({advanced, limited, loop_.latency()});
  if (before != none) loop_.dependences.push_back({before, advanced, 0});
  return stored;
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
