#include "emulator/engine/native/retiming.hpp"

#include <algorithm>

namespace gdr::native {
namespace {

/// A step of a sum in a pass: + or - a term, optionally under a mask.
struct Step {
  NodeOp op = NodeOp::Add;
  std::uint8_t detail = 0;
  Ref term = no_ref, mask = no_ref;
  bool early = false;  ///< computed from this pass's items; else from carried values
};

struct Sum {
  std::size_t carried = 0;
  Ref input = no_ref;
  std::vector<Step> steps;
};

class Retimer {
 public:
  explicit Retimer(const Kernel& kernel) : loop_(kernel), k_(kernel), g_(kernel.graph) {}

  std::optional<LoopForm> run() {
    find_inputs();
    const std::vector<bool> depends = loop_.depends_on_carried();
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      loop_.delayed[c] = !depends[node_of(k_.carried[c].next)];
      if (!loop_.delayed[c] && !add_sum(c)) return std::nullopt;
    }
    for (Sum& sum : sums_) {
      for (Step& step : sum.steps) {
        if (!classify(step)) return std::nullopt;
      }
    }
    LoopForm form;
    form.loops = true;
    form.first = make(Early::Leave, Late::AsHandedOn);
    form.loop = make(Early::LastGroup, Late::Through);
    form.last = make(Early::LastGroup, Late::Leave);
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      if (!loop_.delayed[c]) continue;
      const Ref value = loop_.copy(form.last.graph, k_.carried[c].next, false, 1, made_);
      form.last.stores.push_back(carried_store(k_, c, value));
    }
    return form;
  }

 private:
  /// Which steps are made, and of which group.
  enum class Early : std::uint8_t { Leave, LastGroup };
  enum class Late : std::uint8_t { Leave, AsHandedOn, Through };

  void find_inputs() {
    inputs_.assign(k_.carried.size(), no_ref);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const std::size_t c = loop_.carried(g_[ref_to(n)]);
      if (c != LoopCopy::none) inputs_[c] = ref_to(n);
    }
  }

  bool reaches(Ref r, Ref input) const {
    std::vector<bool> seen(g_.size(), false);
    return reaches(r, input, seen);
  }
  bool reaches(Ref r, Ref input, std::vector<bool>& seen) const {
    if (node_of(r) == node_of(input)) return true;
    if (seen[node_of(r)]) return false;
    seen[node_of(r)] = true;
    const Node& node = g_[r];
    for (const Ref operand : {node.a, node.b, node.c}) {
      if (operand != no_ref && reaches(operand, input, seen)) return true;
    }
    return false;
  }

  /// The last step of a value that is a sum, and what was there before it.
  std::optional<std::pair<Step, Ref>> last_step(Ref r, Ref input) const {
    const Node& node = g_[r];
    if (node.op == NodeOp::Select) {
      for (const bool turned : {false, true}) {
        const Ref changed = turned ? node.c : node.b, kept = turned ? node.b : node.c;
        auto inner = last_step(changed, input);
        if (!inner || inner->second != kept || inner->first.mask != no_ref) continue;
        inner->first.mask = turned ? complement(node.a) : node.a;
        return inner;
      }
      return std::nullopt;
    }
    if (node.op != NodeOp::Add && node.op != NodeOp::Sub) return std::nullopt;
    const bool second = node.op == NodeOp::Add && reaches(node.b, input);
    const Ref before = second ? node.b : node.a;
    return std::pair(Step{node.op, node.detail, second ? node.a : node.b, no_ref, false}, before);
  }

  bool add_sum(std::size_t c) {
    Sum sum{c, inputs_[c], {}};
    if (sum.input == no_ref) return false;
    Ref r = k_.carried[c].next;
    while (r != sum.input) {
      const auto step = last_step(r, sum.input);
      if (!step) return false;
      sum.steps.push_back(step->first);
      r = step->second;
    }
    std::ranges::reverse(sum.steps);
    sums_.push_back(std::move(sum));
    return true;
  }

  /// Determines the group of a value's items. False if it depends on a sum.
  bool look_into(Ref r, std::vector<bool>& seen, bool& early, bool& late) const {
    if (seen[node_of(r)]) return true;
    seen[node_of(r)] = true;
    const Node& node = g_[r];
    const std::size_t c = loop_.carried(node);
    if (c != LoopCopy::none && !loop_.delayed[c]) return false;
    late = late || c != LoopCopy::none;
    early = early || node.op == NodeOp::Source;
    for (const Ref operand : {node.a, node.b, node.c}) {
      if (operand != no_ref && !look_into(operand, seen, early, late)) return false;
    }
    return true;
  }
  /// A term of items of both groups could not be computed in one pass.
  bool classify(Step& step) const {
    bool early = false, late = false;
    std::vector<bool> seen(g_.size(), false);
    if (!look_into(step.term, seen, early, late)) return false;
    if (step.mask != no_ref && !look_into(step.mask, seen, early, late)) return false;
    step.early = early;
    return !(early && late);
  }

  Segment make(Early early, Late late) {
    Segment s;
    made_.clear();
    for (const Sum& sum : sums_) {
      const Ref before = loop_.copy(s.graph, sum.input, false, 0, made_);
      Ref value = before;
      const auto add = [&](const Step& step, bool through, std::uint32_t delay) {
        const auto copy = [&](Ref r) { return loop_.copy(s.graph, r, through, delay, made_); };
        const Ref next =
            s.graph.op(step.op, Kind::Number, value, copy(step.term), no_ref, step.detail);
        value = step.mask == no_ref ? next : s.graph.select(copy(step.mask), next, value);
      };
      for (const Step& step : sum.steps) {
        if (step.early && early == Early::LastGroup) add(step, false, 1);
      }
      for (const Step& step : sum.steps) {
        if (!step.early && late != Late::Leave) add(step, late == Late::Through, 0);
      }
      s.stores.push_back(carried_store(k_, sum.carried, value));
    }
    return s;
  }

  LoopCopy loop_;
  const Kernel& k_;
  const Graph& g_;
  std::vector<Ref> inputs_;  ///< by carried location
  std::vector<Sum> sums_;
  LoopCopy::Made made_;
};

}  // namespace

std::optional<LoopForm> retimed_loop(const Kernel& kernel) { return Retimer(kernel).run(); }

}  // namespace gdr::native
