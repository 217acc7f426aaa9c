#include "emulator/engine/native/machine.hpp"

#include <algorithm>

namespace gdr::native {
namespace {

bool is_comparison(NodeOp op) {
  switch (op) {
    case NodeOp::Negative:
    case NodeOp::IsZero:
    case NodeOp::BitsNegative:
    case NodeOp::BitsEqual:
    case NodeOp::BitsAtLeast:
      return true;
    default:
      return false;
  }
}

bool is_free(NodeOp op) { return op == NodeOp::AsBits || op == NodeOp::AsNumber; }

class Selector {
 public:
  Selector(const Segment& s, Target target)
      : s_(s), g_(s.graph), target_(target), needed_(needed_nodes(s)), uses_(use_counts(s)) {}

  MachineCode run() {
    find_inverted();
    absorbed_.assign(g_.size(), false);
    if (target_.isa == Isa::Avx512) find_absorbed();
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const NodeOp op = g_[ref_to(n)].op;
      if (needed_[n] && !absorbed_[n] && !is_leaf(op) && !is_free(op)) code_.ops.push_back(make(n));
    }
    code_.inverted = inverted_;
    return std::move(code_);
  }

 private:
  void find_inverted();
  void find_absorbed();
  Ref absorbed_by_select(const Node& select) const;
  Ref absorbed_by_both(const Node& both) const;
  MachineOp make(std::uint32_t n) const;
  MachineOp plain(std::uint32_t n) const;
  bool single(Ref r) const { return uses_[node_of(r)] == 1; }

  const Segment& s_;
  const Graph& g_;
  Target target_;
  std::vector<bool> needed_;
  std::vector<unsigned> uses_;
  std::vector<bool> inverted_, absorbed_;
  MachineCode code_;
};

/// Comparisons of which only the complement is used, if the host can tell it at once: AVX2 compares
/// integers in two ways only, and what joins or selects takes a complement as it is.
void Selector::find_inverted() {
  inverted_.assign(g_.size(), false);
  std::vector<bool> straight(g_.size(), false), turned(g_.size(), false);
  const auto note = [&](Ref r) { (negated(r) ? turned : straight)[node_of(r)] = true; };
  for (const Store& store : s_.stores) note(store.value);
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const Node& node = g_[ref_to(n)];
    if (!needed_[n]) continue;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) note(r);
    }
  }
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const NodeOp op = g_[ref_to(n)].op;
    const bool of_integers = op == NodeOp::BitsEqual || op == NodeOp::BitsNegative;
    const bool at_once = target_.isa == Isa::Avx512 || !of_integers;
    inverted_[n] = turned[n] && !straight[n] && is_comparison(op) && at_once;
  }
}

/// The operation that can run under a select's mask: its own only user's.
Ref Selector::absorbed_by_select(const Node& select) const {
  const Node& inner = g_[select.b];
  if (!single(select.b) || select.b == select.c) return no_ref;
  const bool zero = g_.is_constant(select.c) && g_[select.c].bits == 0;
  switch (inner.op) {
    case NodeOp::Add:
    case NodeOp::Sub:
    case NodeOp::Mul:
      return select.b;
    case NodeOp::Fma:
      return zero || inner.c == select.c ? select.b : no_ref;
    default:
      return no_ref;
  }
}

/// A comparison under the mask of the other one.
Ref Selector::absorbed_by_both(const Node& both) const {
  for (const Ref r : {both.b, both.a}) {
    if (single(r) && is_comparison(g_[r].op) && g_[r].op != NodeOp::BitsNegative) return r;
  }
  return no_ref;
}

void Selector::find_absorbed() {
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    if (!needed_[n]) continue;
    const Node& node = g_[ref_to(n)];
    Ref inner = no_ref;
    if (node.op == NodeOp::Select) inner = absorbed_by_select(node);
    if (node.op == NodeOp::Both) inner = absorbed_by_both(node);
    if (inner != no_ref) absorbed_[node_of(inner)] = true;
  }
}

MachineOp Selector::plain(std::uint32_t n) const {
  const Node& node = g_[ref_to(n)];
  MachineOp op;
  op.node = n;
  op.op = node.op;
  op.detail = node.detail;
  op.inverted = inverted_[n];
  std::size_t k = 0;
  for (const Ref r : {node.a, node.b, node.c}) {
    op.in[k++] = r == no_ref ? r : value_behind(g_, r);
  }
  return op;
}

MachineOp Selector::make(std::uint32_t n) const {
  const Node& node = g_[ref_to(n)];
  if (node.op == NodeOp::Select && absorbed_[node_of(node.b)] &&
      absorbed_by_select(node) != no_ref) {
    MachineOp op = plain(node_of(node.b));
    op.node = n;
    op.mask = node.a;
    const bool zero = g_.is_constant(node.c) && g_[node.c].bits == 0;
    op.otherwise = zero ? no_ref : value_behind(g_, node.c);
    return op;
  }
  if (node.op == NodeOp::Both && target_.isa == Isa::Avx512) {
    if (const Ref inner = absorbed_by_both(node); inner != no_ref) {
      MachineOp op = plain(node_of(inner));
      op.node = n;
      op.inverted = negated(inner);
      op.mask = inner == node.b ? node.a : node.b;
      return op;
    }
  }
  return plain(n);
}

// --- order

/// Greedy: of the operations whose operands are there, the one that frees most registers; among
/// equals the one that comes first on the way down from the stores.
class Scheduler {
 public:
  Scheduler(const Segment& s, std::vector<MachineOp> ops, const std::vector<bool>& resident)
      : s_(s), g_(s.graph), ops_(std::move(ops)), resident_(resident) {}

  void run(MachineCode& code) {
    index();
    std::vector<std::uint32_t> ready;
    for (std::uint32_t k = 0; k < ops_.size(); ++k) {
      if (waiting_[k] == 0) ready.push_back(k);
    }
    int alive = resident_count();
    int most = alive;
    while (!ready.empty()) {
      const auto best = std::min_element(ready.begin(), ready.end(), [&](auto a, auto b) {
        return std::pair(growth(a), rank_[a]) < std::pair(growth(b), rank_[b]);
      });
      const std::uint32_t chosen = *best;
      ready.erase(best);
      alive += growth(chosen);
      most = std::max(most, alive);
      issue(chosen, ready);
      code.ops.push_back(ops_[chosen]);
    }
    code.pressure = static_cast<unsigned>(most);
  }

 private:
  void index();
  void rank(Ref r);
  int growth(std::uint32_t k) const;
  void issue(std::uint32_t k, std::vector<std::uint32_t>& ready);
  int resident_count() const;
  bool holds_register(std::uint32_t n) const;
  template <typename Visit>
  void each_operand(const MachineOp& op, Visit visit) const {
    for (const Ref r : {op.in[0], op.in[1], op.in[2], op.mask, op.otherwise}) {
      if (r != no_ref) visit(node_of(r));
    }
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const Segment& s_;
  const Graph& g_;
  std::vector<MachineOp> ops_;
  const std::vector<bool>& resident_;
  std::vector<std::uint32_t> op_of_;  ///< by node
  std::vector<unsigned> uses_left_;   ///< by node
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<unsigned> waiting_;  ///< by op: operands that are not there yet
  std::vector<unsigned> rank_;
  unsigned next_rank_ = 0;
};

bool Scheduler::holds_register(std::uint32_t n) const {
  const Node& node = g_[ref_to(n)];
  if (node.kind == Kind::Mask) return false;
  if (node.op != NodeOp::Input) return !is_leaf(node.op);
  return resident_[LeafKey::unpack(node.bits).place];
}

int Scheduler::resident_count() const {
  return static_cast<int>(std::count(resident_.begin(), resident_.end(), true));
}

void Scheduler::index() {
  op_of_.assign(g_.size(), none);
  uses_left_.assign(g_.size(), 0);
  users_.resize(ops_.size());
  waiting_.assign(ops_.size(), 0);
  rank_.assign(ops_.size(), none);
  for (std::uint32_t k = 0; k < ops_.size(); ++k) op_of_[ops_[k].node] = k;
  for (std::uint32_t k = 0; k < ops_.size(); ++k) {
    each_operand(ops_[k], [&](std::uint32_t n) {
      ++uses_left_[n];
      if (op_of_[n] == none) return;
      ++waiting_[k];
      users_[op_of_[n]].push_back(k);
    });
  }
  for (const Store& store : s_.stores) rank(value_behind(g_, store.value));
}

void Scheduler::rank(Ref r) {
  const std::uint32_t k = op_of_[node_of(r)];
  if (k == none || rank_[k] != none) return;
  rank_[k] = 0;
  for (const Ref operand :
       {ops_[k].mask, ops_[k].in[0], ops_[k].in[1], ops_[k].in[2], ops_[k].otherwise}) {
    if (operand != no_ref) rank(operand);
  }
  rank_[k] = next_rank_++;
}

/// Registers that an operation takes, less those that it frees.
int Scheduler::growth(std::uint32_t k) const {
  int sum = holds_register(ops_[k].node) && uses_left_[ops_[k].node] > 0 ? 1 : 0;
  std::array<std::uint32_t, 5> seen{};
  std::size_t count = 0;
  each_operand(ops_[k], [&](std::uint32_t n) {
    if (std::find(seen.begin(), seen.begin() + count, n) != seen.begin() + count) return;
    seen[count++] = n;
    unsigned here = 0;
    each_operand(ops_[k], [&](std::uint32_t m) { here += m == n ? 1 : 0; });
    if (holds_register(n) && uses_left_[n] == here) --sum;
  });
  return sum;
}

void Scheduler::issue(std::uint32_t k, std::vector<std::uint32_t>& ready) {
  each_operand(ops_[k], [&](std::uint32_t n) { --uses_left_[n]; });
  for (const std::uint32_t user : users_[k]) {
    if (--waiting_[user] == 0) ready.push_back(user);
  }
}

}  // namespace

Ref value_behind(const Graph& graph, Ref r) noexcept {
  while (is_free(graph[r].op)) r = graph[r].a;
  return r;
}

MachineCode make_machine_code(const Segment& segment, Target target,
                              const std::vector<bool>& resident) {
  MachineCode code = Selector(segment, target).run();
  std::vector<MachineOp> ops = std::move(code.ops);
  code.ops.clear();
  Scheduler(segment, std::move(ops), resident).run(code);
  return code;
}

}  // namespace gdr::native
