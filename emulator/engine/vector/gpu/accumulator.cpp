#include "emulator/engine/vector/gpu/accumulator.hpp"

#include <algorithm>

namespace gdr::codegen {
namespace {

class Search {
 public:
  Search(const Trace& trace, std::span<const CarriedRow> carried, const LoopTests& tests)
      : steps_(trace.steps), carried_(carried), tests_(tests), uses_(trace.steps.size(), 0) {
    for (const Step& s : steps_)
      for (const StepId in : s.in)
        if (in != no_step) ++uses_[in];
    for (const RowStore& store : trace.stores) ++uses_[store.value];
  }

  std::vector<Accumulator> run() const {
    std::vector<Accumulator> found;
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      Accumulator a;
      a.head = c;
      if (trace_back(a)) found.push_back(std::move(a));
    }
    return found;
  }

 private:
  bool is_head(StepId n) const { return steps_[n].kind == Step::Kind::LongHead; }
  StepId tail_of(StepId head) const {
    for (StepId n = 0; n < steps_.size(); ++n)
      if (steps_[n].kind == Step::Kind::LongTail && steps_[n].in == steps_[head].in) return n;
    return no_step;
  }
  bool untested(StepId n) const { return (tests_.of_step[n] & ~test_read) == 0; }

  /// From the sum that a row is left with back to the row.
  bool trace_back(Accumulator& a) const {
    StepId h = carried_[a.head].out;
    if (!is_head(h)) return false;
    StepId l = tail_of(h);
    const auto tail = std::ranges::find(carried_, l, &CarriedRow::out);
    if (l == no_step || tail == carried_.end()) return false;
    a.tail = static_cast<std::size_t>(tail - carried_.begin());
    // The last sum is used as the rows; the others, and the rows, by both steps of a sum.
    for (unsigned users = 1; is_head(h); users = 2) {
      if (l == no_step || uses_[h] != (users == 1 ? 1U : 2U) || uses_[l] != uses_[h]) return false;
      if (!untested(h) || !untested(l)) return false;
      a.heads.push_back(h);
      a.tails.push_back(l);
      const StepId next_tail = steps_[h].in[1];
      h = steps_[h].in[0];
      l = is_head(h) ? tail_of(h) : next_tail;
      if (l != next_tail) return false;
    }
    return h == carried_[a.head].in && l == carried_[a.tail].in && uses_[h] == 2 && uses_[l] == 2 &&
           untested(h) && untested(l);
  }

  const std::vector<Step>& steps_;
  std::span<const CarriedRow> carried_;
  const LoopTests& tests_;
  std::vector<unsigned> uses_;
};

}  // namespace

std::vector<Accumulator> find_accumulators(const Trace& trace, std::span<const CarriedRow> carried,
                                           const LoopTests& tests) {
  return Search(trace, carried, tests).run();
}

const char* const accumulator_functions = R"(
// Exponent and leading 20 bits.
uint leading(double x) { return (uint)(as_ulong(x) >> 32) & 0x7fffffffu; }
// place: minus the leading bits of the least h in the binade, such that h is placed where
// leading(h) + place < places.
typedef struct { double h, low; uint place; } accumulator;
#define places 0xffffeu
#define not_placed 0x80000000u
double offset_of(accumulator a) {
  return a.place == not_placed ? 0.0 : as_double((ulong)(-a.place - 1u) << 32) * 0x1.8p-8;
}
accumulator begin_sum(double h, double l) {
  accumulator a;
  const uint own = leading(h);
  const bool placed = (own & 0xfffffu) - 1u < places;
  const uint binade = own & 0x7ff00000u;
  a.h = h;
  a.place = placed ? -(binade + 1u) : not_placed;
  a.low = l - offset_of(a);
  return a;
}
accumulator unplaced(double h, double l) {
  accumulator a;
  a.h = h, a.low = l, a.place = not_placed;
  return a;
}
// The rows of the long: |l| is at most one unit in the last place of h.
double head_of(accumulator a) { return a.h + (a.low + offset_of(a)); }
double tail_of(accumulator a) { return (a.low + offset_of(a)) - (head_of(a) - a.h); }
// Adds a term as TestedSteps does: NaN, if that is not proved. Rare, and no part of the loop.
__attribute__((noinline)) accumulator add_carefully(accumulator a, double b) {
  const double l = a.low + offset_of(a);
  const double s = a.h + b, b_part = s - a.h, h_part = s - b_part;
  const double e = (b - b_part) + (a.h - h_part);
  const double t = e + l;
  bool wrong = t - l != e | t - e != l;
  const double head = s + t, t_part = head - s, s_part = head - t_part;
  const double rest = (t - t_part) + (s - s_part);
  wrong |= (as_ulong(head) << 12) == 0UL & rest != 0.0;
  const double power = as_double(as_ulong(head) & 0x7ff0000000000000UL);
  const double tail = fma(power, 0x1.8p-8, fma(-power, 0x1.8p-8, rest));
  if (b == 0.0) return a;
  return begin_sum(wrong ? as_double(0x7ff8000000000000UL) : head, tail);
}
accumulator add_term(accumulator a, double b) {
  const double s = a.h + b;
  if (leading(s) + a.place >= places) return add_carefully(a, b);
  a.low += b - (s - a.h);
  a.h = s;
  return a;
}
bool is_tie(double s) { return (((uint)as_ulong(s) ^ 0x8000000u) & 0xfffffffu) == 0u; }
// For s = a + b rounded to nearest: the next double on the side of s where a + b is, if s is a tie of
// 25 bits and not a + b itself.
double beside_tie(double a, double b, double s) {
  const double b_part = s - a, a_part = s - b_part;
  const double error = (b - b_part) + (a - a_part);
  if (!is_tie(s) || error == 0.0) return s;
  const bool away_from_zero = (error < 0.0) == (s < 0.0);
  return as_double(as_ulong(s) + (away_from_zero ? 1UL : ~0UL));
}
)";

}  // namespace gdr::codegen
