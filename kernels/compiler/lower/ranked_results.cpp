// The k smallest or largest keys with their indices, in order.
//
// A key is inserted where it is better than the one that was there, and those behind it move by one
// place, from the last one on. The places are in local memory: the register file has not the space.
#include <limits>

#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {

/// A copy to an accumulator where a mask is set.
OpId Builder::replace(ValueId accumulator, const Ref& from, MaskId where) {
  const Width width = loop_.value(accumulator).width;
  const auto id = static_cast<OpId>(loop_.ops.size());
  loop_.value(accumulator).defs.push_back(id);
  loop_.ops.push_back({.op = width_of(from) == width ? Op::Upass : Op::Fcvt,
                       .width = width,
                       .in = {from, {}},
                       .out = accumulator,
                       .where = where_});
  predicate(id, {where, true});
  return id;
}

void Builder::contribute_ranked(std::size_t variable,
                                const std::vector<const Contribution*>& mine) {
  /// A result with its index, which has the accumulator `number` or none.
  struct Place {
    ValueId key = none, number = none;
    OpId key_written = none, number_written = none;
  };
  const GraphVariable& first = graph_.variables[variable];
  const bool least = first.reduction == Reduction::Smallest;
  std::vector<Place> places;
  const auto hold = [&](std::int32_t result, Width width, bool integer, std::int32_t key) {
    const ValueId held = new_accumulator(result, width, integer);
    loop_.value(held).in_local = true;
    loop_.results.push_back({.accumulator = held,
                             .variable = result,
                             .reduction = least ? Op::Fmin : Op::Fmax,
                             .key = key,
                             .joined = false});
    return held;
  };
  for (std::size_t k = 0; k < first.ranks; ++k) {
    const auto key = static_cast<std::int32_t>(variable + k);
    const std::int32_t number = graph_.variable(key).index_result;
    Place& place = places.emplace_back();
    place.key = hold(key, Width::Long, false, none);
    if (number >= 0) place.number = hold(number, Width::Short, true, key);
  }
  for (const Contribution* c : mine) {
    const Term term = this->term(c->value);
    const Width own = width_for(graph_.node(c->value).type);
    Ref key =
        term.constant ? emit(Op::Fcvt, Width::Long, immediate(term.number)) : plain(term, own);
    const Ref number = c->payload != no_node ? integer(c->payload) : Ref{};
    where_ = c->where;
    if (c->condition != no_node) {
      // A key that does not count is behind all others.
      const double last = std::numeric_limits<double>::infinity();
      key = select_constant(condition(c->condition), key, false,
                            long_from_double(least ? last : -last).bits, Width::Long);
    }
    // The mask first says whether the key is better than the last one, then, only where that holds,
    // than the one before, and so on: engines may skip all of it where no target is concerned.
    const MaskId better = new_mask();
    std::vector<OpId> mask_reads, key_reads, number_reads;
    const auto compare_with = [&](const Place& place, MaskId where) {
      const Ref old = Ref::of(place.key);
      const OpId read = set_mask(better, Op::Fsub, least ? key : old, least ? old : key,
                                 MaskFlag::Negative, where, true);
      for (const OpId before : mask_reads) loop_.dependences.push_back({before, read, 0});
      mask_reads.clear();
      key_reads.push_back(read);
      if (place.key_written != none)
        loop_.dependences.push_back({place.key_written, read, loop_.latency()});
    };
    // Replaces a key or a number after all operations that read it.
    const auto write = [&](ValueId to, const Ref& from, std::vector<OpId>& reads, OpId& written) {
      if (to == none) return;
      written = replace(to, from, better);
      mask_reads.push_back(written);
      for (const OpId read : reads) loop_.dependences.push_back({read, written, 0});
      reads.clear();
    };
    const auto move = [&](ValueId to, ValueId from, OpId last, std::vector<OpId>& reads,
                          OpId& written) {
      if (to == none) return;
      written = replace(to, Ref::of(from), better);
      mask_reads.push_back(written);
      if (last != none) loop_.dependences.push_back({last, written, loop_.latency()});
      reads.push_back(written);
    };
    compare_with(places.back(), none);
    for (std::size_t k = places.size(); k-- > 0;) {
      Place& place = places[k];
      write(place.key, key, key_reads, place.key_written);
      write(place.number, number, number_reads, place.number_written);
      if (k == 0) break;
      const Place& before = places[k - 1];
      compare_with(before, better);
      move(place.key, before.key, before.key_written, key_reads, place.key_written);
      move(place.number, before.number, before.number_written, number_reads, place.number_written);
    }
  }
}

}  // namespace gdr::kc
