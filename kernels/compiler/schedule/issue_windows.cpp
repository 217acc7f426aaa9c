#include "kernels/compiler/schedule/issue_windows.hpp"

#include <algorithm>
#include <limits>

namespace gdr::kc {

IssueWindows::IssueWindows(const Problem& problem, const PartialSchedule& schedule, unsigned length)
    : problem_(problem),
      loop_(*problem.loop),
      s_(schedule),
      dependences_(problem, static_cast<unsigned>(schedule.ii())),
      paths_(dependences_),
      horizon_(std::min(static_cast<int>(length),
                        schedule.ii() * static_cast<int>(problem.max_stages))) {}

Window IssueWindows::window(std::size_t op) const {
  Window w{first_time(op), last_time(op)};
  for_scheduled_before(op, [&](std::size_t, int time) { w.from = std::max(w.from, time); });
  for_scheduled_after(op, [&](std::size_t, int time) { w.to = std::min(w.to, time); });
  if (op >= loop_.ops.size()) return w;
  const auto to = paths_.to(op), from = paths_.from(op);
  const auto low = s_.times_or_low(), high = s_.times_or_high();
  std::int16_t first = 0, last = std::numeric_limits<std::int16_t>::max();
  for (std::size_t k = 0; k < to.size(); ++k)
    first = std::max(first, static_cast<std::int16_t>(low[k] + to[k]));
  for (std::size_t k = 0; k < from.size(); ++k)
    last = std::min(last, static_cast<std::int16_t>(high[k] - from[k]));
  w.from = std::max<int>(w.from, first);
  w.to = std::min<int>(w.to, last);
  return w;
}

/// Whether an early issue time shortens lifetimes: it ends those of operands without other readers,
/// and begins that of the result.
bool IssueWindows::prefers_early(std::size_t op) const {
  if (is_load(op)) return false;
  const MachineOp& o = loop_.ops[op];
  int ended = 0;
  for (const Ref& r : o.in) {
    if (r.kind != Ref::Kind::Value) continue;
    const MachineValue& v = loop_.value(r.value);
    if (v.origin != Origin::Computed && v.origin != Origin::Field) continue;
    const bool last = std::ranges::none_of(
        v.uses, [&](OpId u) { return index(u) != op && !(s_.is_scheduled(index(u))); });
    if (last && v.origin == Origin::Computed) ended += static_cast<int>(shorts_in(v.width));
  }
  const bool begins = o.out != none && loop_.value(o.out).origin == Origin::Computed;
  const int begun = begins ? static_cast<int>(shorts_in(loop_.value(o.out).width)) : 0;
  return ended >= begun;
}

void IssueWindows::candidate_times(std::size_t op, const Window& w, std::vector<int>& out) const {
  out.clear();
  if (w.from > w.to) return;
  bool has_before = false, has_after = false;
  for_scheduled_before(op, [&](std::size_t, int) { has_before = true; });
  for_scheduled_after(op, [&](std::size_t, int) { has_after = true; });
  const bool early = has_before == has_after ? prefers_early(op) || !has_after : has_before;
  const int n = std::min(w.to - w.from + 1, s_.ii());
  for (int k = 0; k < n; ++k) out.push_back(early ? w.from + k : w.to - k);
}

bool IssueWindows::accumulator_too_close(std::size_t op, int time,
                                         std::vector<std::size_t>* others) const {
  if (problem_.latency < 2 || op >= loop_.ops.size()) return false;
  const ValueId out = loop_.ops[op].out;
  if (out == none || loop_.value(out).origin != Origin::Accumulator) return false;
  bool close = false;
  for (const OpId d : loop_.value(out).defs) {
    if (index(d) == op || !s_.is_scheduled(index(d))) continue;
    const int distance = std::abs(static_cast<int>(s_.row_of(s_.time(index(d)))) -
                                  static_cast<int>(s_.row_of(time)));
    if (std::min(distance, s_.ii() - distance) >= static_cast<int>(problem_.latency)) continue;
    close = true;
    if (others != nullptr) others->push_back(index(d));
  }
  return close;
}

}  // namespace gdr::kc
