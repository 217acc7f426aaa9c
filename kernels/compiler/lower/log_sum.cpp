// Logarithms of sums of exponentials, and means that are weighted with these exponentials.
//
// The sum s of e^(x - m) is relative to the largest value m so far, so that it is from 1 to the
// number of sources, whatever the values are. A larger x replaces m, and multiplies s by e^(m - x);
// one exponential, that of -|x - m|, serves both cases. After the last source the result is
// m + log s.
#include <algorithm>
#include <limits>

#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Where Builder::exponential ends, too.
constexpr double min_exponent = -700;

}  // namespace

void Builder::contribute_log_sum(std::size_t variable) {
  const auto id = static_cast<std::int32_t>(variable);
  LogSum made;
  const auto result = [&](std::int32_t of) {
    const ValueId held = new_accumulator(of, Width::Long, false);
    loop_.results.push_back({.accumulator = held, .variable = of, .joined = false});
    return held;
  };
  made.sum = result(id);
  made.most = new_value({.origin = Origin::Accumulator, .width = Width::Long});
  loop_.starts.push_back({made.most, long_from_double(-infinity).bits});
  for (std::size_t v = 0; v < graph_.variables.size(); ++v)
    if (graph_.variables[v].weighted_by == id)
      made.means.push_back(result(static_cast<std::int32_t>(v)));

  LogSumWrites writes;
  writes.sums.assign(1 + made.means.size(), none);
  const auto first_op = static_cast<OpId>(loop_.ops.size());
  for (std::size_t i = 0; i < graph_.contributions.size(); ++i)
    if (graph_.contributions[i].result == id) add_exponential(made, i, writes);
  // The next source reads the accumulators after this one has written them.
  const auto before_next = [&](ValueId accumulator, OpId last) {
    if (last == none) return;
    for (auto op = static_cast<std::size_t>(first_op); op < loop_.ops.size(); ++op)
      for (const Ref& in : loop_.ops[op].in)
        if (in.kind == Ref::Kind::Value && in.value == accumulator)
          loop_.dependences.push_back({last, static_cast<OpId>(op), loop_.latency(), true});
  };
  before_next(made.most, writes.most);
  before_next(made.sum, writes.sums[0]);
  for (std::size_t k = 0; k < made.means.size(); ++k)
    before_next(made.means[k], writes.sums[k + 1]);
  log_sums_.push_back(std::move(made));
}

/// A mask that is set where a value is minus infinity, whose exponential is zero, or where the
/// condition of the contribution fails.
MaskId Builder::excluded(const Ref& value, NodeId condition_node) {
  const Condition counts = condition_node == no_node ? Condition{} : condition(condition_node);
  const MaskId mask = new_mask();
  set_mask(mask, Op::Fsub, value, immediate(-std::numeric_limits<double>::max()),
           MaskFlag::Negative, none, true);
  if (condition_node != no_node) {
    loop_.mask(counts.mask).off = !counts.value;
    set_mask(mask, Op::Ipass, bits(0), {}, MaskFlag::Zero, counts.mask, !counts.value);
  }
  return mask;
}

void Builder::add_exponential(const LogSum& log_sum, std::size_t contribution,
                              LogSumWrites& writes) {
  const Contribution& c = graph_.contributions[contribution];
  const Width accuracy = width_for(graph_.node(c.value).type);
  const Term term = this->term(c.value);
  const Ref x =
      term.constant ? emit(Op::Fcvt, Width::Long, immediate(term.number)) : plain(term, accuracy);
  // The values of the means that this exponential weights.
  std::vector<std::pair<std::size_t, Ref>> values;
  for (std::size_t i = contribution + 1; i < graph_.contributions.size(); ++i) {
    const Contribution& mean = graph_.contributions[i];
    if (graph_.variable(mean.result).weighted_by != c.result) break;
    const Term value = this->term(mean.value);
    const ValueId held = [&] {
      for (const ValueId v : log_sum.means)
        if (loop_.value(v).variable == mean.result) return v;
      return none;
    }();
    const auto k = std::ranges::find(log_sum.means, held) - log_sum.means.begin();
    values.emplace_back(static_cast<std::size_t>(k),
                        value.constant ? immediate(value.number)
                                       : plain(value, width_for(graph_.node(mean.value).type)));
  }
  where_ = c.where;
  const int latency = loop_.latency();
  const MaskId out = excluded(x, c.condition);
  const auto written_before = [&](OpId last, OpId read) {
    if (last != none) loop_.dependences.push_back({last, read, latency});
  };
  const Ref most = Ref::of(log_sum.most);
  const Ref difference =
      append_op({.op = Op::Fsub, .width = Width::Long, .in = {x, most}, .where = where_});
  const OpId reads_most = loop_.value(difference.value).defs[0];
  written_before(writes.most, reads_most);
  const Ref opposite = emit(Op::Fsub, Width::Long, immediate(0), difference);
  const Ref negative = emit(Op::Fmin, Width::Long, difference, opposite);
  const Ref limited = emit(Op::Fmax, Width::Long, negative, immediate(min_exponent));
  const Ref e = exponential_of(limited, {}, accuracy);
  const MaskId larger = new_mask();
  const OpId compares = set_mask(larger, Op::Fsub, most, x, MaskFlag::Negative, none, true);
  written_before(writes.most, compares);
  set_mask(larger, Op::Ipass, bits(1), {}, MaskFlag::Zero, out, true);

  const auto update = [&](ValueId accumulator, MachineOp op, const Condition& where, OpId& last) {
    const auto id = static_cast<OpId>(loop_.ops.size());
    op.width = Width::Long;
    op.out = accumulator;
    op.where = where_;
    loop_.value(accumulator).defs.push_back(id);
    loop_.ops.push_back(op);
    predicate(id, where);
    written_before(last, id);
    last = id;
  };
  const auto scale = [&](ValueId accumulator, OpId& last) {
    update(accumulator, {.op = Op::Dmul, .in = {Ref::of(accumulator), e}}, {larger, true}, last);
  };
  const auto add = [&](ValueId accumulator, const Ref& what, OpId& last) {
    update(accumulator, {.op = Op::Fadd, .in = {Ref::of(accumulator), what}}, {out, false}, last);
  };
  const Ref weight = select({larger, true}, immediate(1), false, e, false, Width::Long);
  scale(log_sum.sum, writes.sums[0]);
  add(log_sum.sum, weight, writes.sums[0]);
  for (std::size_t k = 0; k < log_sum.means.size(); ++k)
    scale(log_sum.means[k], writes.sums[k + 1]);
  for (const auto& [k, value] : values)
    add(log_sum.means[k], product(weight, value, Width::Long), writes.sums[k + 1]);
  update(log_sum.most, {.op = Op::Fmax, .in = {most, x}}, {out, false}, writes.most);
  for (const OpId read : {reads_most, compares})
    loop_.dependences.push_back({read, writes.most, 0});
}

/// The operations after the loop are built as those of the loop are, and moved behind it.
void Builder::finish_results() {
  if (log_sums_.empty()) return;
  const std::size_t ops = loop_.ops.size(), values = loop_.values.size();
  const std::size_t masks = loop_.masks.size(), dependences = loop_.dependences.size();
  value_numbers_.clear();  // the loop's values are gone
  const auto store = [&](ValueId accumulator, MachineOp op) {
    op.width = Width::Long;
    op.out = accumulator;
    loop_.ops.push_back(op);
  };
  for (const LogSum& made : log_sums_) {
    const Ref sum = Ref::of(made.sum);
    // Without sources it is zero, and so are the means.
    const Ref divisor = emit(Op::Fmax, Width::Long, sum, immediate(1));
    for (const ValueId mean : made.means)
      store(mean, {.op = Op::Upass, .in = {quotient(Ref::of(mean), divisor), {}}});
    const Ref logarithm_of_sum = logarithm(sum, Width::Long);
    store(made.sum, {.op = Op::Fadd, .in = {logarithm_of_sum, Ref::of(made.most)}});
  }
  // A selection writes the second alternative first, whichever was built first.
  for (const std::size_t op : topological_order(loop_))
    if (op >= ops) loop_.finish.push_back(loop_.ops[op]);
  loop_.ops.resize(ops);
  loop_.dependences.resize(dependences);
  for (std::size_t m = masks; m < loop_.masks.size(); ++m) loop_.masks[m] = {};
  for (std::size_t v = values; v < loop_.values.size(); ++v) {
    if (loop_.values[v].origin != Origin::Computed) continue;
    loop_.values[v].finishing = true;
    loop_.values[v].defs.clear();
  }
  value_numbers_.clear();
}

}  // namespace gdr::kc
