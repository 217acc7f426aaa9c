#include "emulator/engine/jit/order.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace gdr::jit {
namespace {

/// Which operations must precede which.
class Dependences {
 public:
  explicit Dependences(const Block& block) : after_(block.code.size()), waits_(block.code.size()) {
    constexpr std::uint32_t nobody = ~std::uint32_t{0};
    std::vector<std::uint32_t> made_by(block.values.size(), nobody);
    std::map<std::tuple<unsigned, std::int32_t>, std::vector<std::uint32_t>> readers;
    std::map<std::tuple<unsigned, std::int32_t>, std::uint32_t> last_append;
    const auto key = [](const Place& p) { return std::tuple(unsigned{p.base}, p.offset); };
    for (std::uint32_t n = 0; n < block.code.size(); ++n) {
      const Operation& o = block.code[n];
      each_operand(o, [&](ValueId v) {
        if (made_by[v] != nobody) depend(made_by[v], n);
        if (block.values[v].in_memory) readers[key(block.values[v].place)].push_back(n);
      });
      if (o.op == Op::Load) readers[key(o.place)].push_back(n);
      if (o.op == Op::Append) {  // entries of a list keep their order
        const auto [before, is_new] = last_append.try_emplace(key(o.place), n);
        if (!is_new) depend(std::exchange(before->second, n), n);
      }
      if (o.op == Op::Store) {
        for (const std::uint32_t reader : readers[key(o.place)]) {
          if (reader != n) depend(reader, n);
        }
      }
      if (o.to != no_value) made_by[o.to] = n;
    }
  }
  const std::vector<std::uint32_t>& after(std::size_t n) const { return after_[n]; }
  bool waits(std::size_t n) const { return waits_[n] != 0; }
  /// Calls `ready` for the operations that waited for the last time.
  template <typename Ready>
  void done(std::size_t n, Ready ready) {
    for (const std::uint32_t m : after_[n]) {
      if (--waits_[m] == 0) ready(m);
    }
  }

 private:
  void depend(std::uint32_t first, std::uint32_t second) {
    after_[first].push_back(second);
    ++waits_[second];
  }
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<std::uint32_t> waits_;  ///< number of unscheduled predecessors
};

/// By operation: how far the sums of a loop are when they need it, from 0 to all of their terms.
/// What a loop carries from one iteration to the next counts as a sum, and each operation from the
/// old value to the new one as a term.
std::vector<unsigned> parts_of_sums(const Block& block) {
  constexpr unsigned whole = 5040;  // has many divisors
  const std::size_t count = block.code.size();
  std::vector<unsigned> terms(block.values.size(), 0);  // before each value, 0: not a sum
  std::vector<unsigned> left(block.values.size(), 0);
  for (const Carried& c : block.carried) terms[c.in] = 1;
  for (const Operation& o : block.code)
    each_operand(o, [&](ValueId v) {
      if (terms[v] != 0 && o.to != no_value) terms[o.to] = std::max(terms[o.to], terms[v] + 1);
    });
  std::vector<unsigned> part(block.values.size(), whole), parts(count, whole);
  for (std::size_t n = count; n-- > 0;) {
    const Operation& o = block.code[n];
    if (o.to != no_value) parts[n] = part[o.to];
    each_operand(o, [&](ValueId v) {
      if (o.to != no_value && terms[v] != 0) left[v] = std::max(left[v], left[o.to] + 1);
    });
    if (o.to != no_value && terms[o.to] != 0)
      parts[n] = whole * (terms[o.to] - 2) / (terms[o.to] - 1 + left[o.to]);
    each_operand(o, [&](ValueId v) { part[v] = std::min(part[v], parts[n]); });
  }
  return parts;
}

/// List scheduling for few live values.
class PressureScheduler {
 public:
  /// `stages`: by operation; all ready operations of a stage precede those of later ones.
  PressureScheduler(const Block& block, std::span<const ValueId> roots,
                    std::vector<unsigned> stages)
      : b_(block),
        ops_(block.code),
        stages_(std::move(stages)),
        dependences_(block),
        op_of_(block.values.size(), none),
        uses_left_(block.values.size()),
        readers_(block.values.size()),
        rank_(ops_.size(), none),
        entry_(ops_.size()),
        is_ready_(ops_.size()) {
    for (std::uint32_t k = 0; k < ops_.size(); ++k) {
      if (ops_[k].to != no_value) op_of_[ops_[k].to] = k;
      each_operand(ops_[k], [&](ValueId v) {
        ++uses_left_[v];
        if (readers_[v].empty() || readers_[v].back() != k) readers_[v].push_back(k);
      });
    }
    for (const ValueId root : roots) rank(root);
  }

  unsigned run(std::vector<Operation>& ordered) {
    for (std::uint32_t k = 0; k < ops_.size(); ++k) {
      if (!dependences_.waits(k)) add_ready(k);
    }
    int alive = static_cast<int>(b_.carried.size());
    int most = alive;
    while (!ready_.empty()) {
      const std::uint32_t chosen = ready_.begin()->operation;
      alive += ready_.begin()->growth;
      most = std::max(most, alive);
      ready_.erase(ready_.begin());
      is_ready_[chosen] = false;
      each_operand(ops_[chosen], [&](ValueId v) { --uses_left_[v]; });
      each_operand(ops_[chosen], [&](ValueId v) { update_readers(v); });
      dependences_.done(chosen, [&](std::uint32_t user) { add_ready(user); });
      ordered.push_back(ops_[chosen]);
    }
    return static_cast<unsigned>(most);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t max_operands = 5;

  /// An operation that may be next; the least one is.
  struct Ready {
    unsigned stage = 0;
    int growth = 0;
    unsigned rank = 0;
    std::uint32_t number = 0;  ///< number of operations that were ready before
    std::uint32_t operation = 0;
    auto operator<=>(const Ready&) const = default;
  };

  void add_ready(std::uint32_t k) {
    entry_[k] = {stages_[k], growth(k), rank_[k], next_number_++, k};
    ready_.insert(entry_[k]);
    is_ready_[k] = true;
  }

  /// Update the growth of the operations that read a value: it changes where they are the last ones
  /// to do so.
  void update_readers(ValueId v) {
    if (uses_left_[v] == 0 || uses_left_[v] > max_operands) return;
    for (const std::uint32_t k : readers_[v]) {
      if (!is_ready_[k] || entry_[k].growth == growth(k)) continue;
      ready_.erase(entry_[k]);
      entry_[k].growth = growth(k);
      ready_.insert(entry_[k]);
    }
  }

  bool holds_register(ValueId v) const {
    return b_.values[v].type == Type::Vector && !b_.values[v].in_memory;
  }

  void rank(ValueId v) {
    const std::uint32_t k = op_of_[v];
    if (k == none || rank_[k] != none) return;
    rank_[k] = 0;
    each_operand(ops_[k], [&](ValueId operand) { rank(operand); });
    rank_[k] = next_rank_++;
  }

  /// Registers that an operation takes, less those that it frees.
  int growth(std::uint32_t k) const {
    const ValueId to = ops_[k].to;
    int sum = to != no_value && holds_register(to) && uses_left_[to] > 0 ? 1 : 0;
    std::array<ValueId, max_operands> seen{};
    std::size_t count = 0;
    each_operand(ops_[k], [&](ValueId v) {
      if (std::find(seen.begin(), seen.begin() + count, v) != seen.begin() + count) return;
      seen[count++] = v;
      unsigned here = 0;
      each_operand(ops_[k], [&](ValueId w) { here += w == v ? 1 : 0; });
      if (holds_register(v) && uses_left_[v] == here) --sum;
    });
    return sum;
  }

  const Block& b_;
  const std::vector<Operation>& ops_;
  const std::vector<unsigned> stages_;  ///< stage of each operation
  Dependences dependences_;
  std::vector<std::uint32_t> op_of_;                 ///< operation that makes each value
  std::vector<unsigned> uses_left_;                  ///< number of uses of each value that are left
  std::vector<std::vector<std::uint32_t>> readers_;  ///< operations that read each value
  std::vector<unsigned> rank_;  ///< position of each operation in depth-first order
  unsigned next_rank_ = 0;
  std::set<Ready> ready_;
  std::vector<Ready> entry_;    ///< entry of each operation that is ready
  std::vector<char> is_ready_;  ///< whether each operation is ready
  std::uint32_t next_number_ = 0;
};

constexpr unsigned operations_a_clock = 2;

/// By operation: clocks from its beginning to the end of all that waits for it.
std::vector<int> heights(const Block& block, const Dependences& dependences) {
  std::vector<int> height(block.code.size());
  for (std::size_t n = height.size(); n-- > 0;) {
    for (const std::uint32_t m : dependences.after(n)) height[n] = std::max(height[n], height[m]);
    height[n] += latency(block.code[n].op);
  }
  return height;
}

unsigned ordered_by_pressure(Block& block, std::span<const ValueId> roots,
                             std::vector<unsigned> stages) {
  std::vector<Operation> ordered;
  ordered.reserve(block.code.size());
  const unsigned most = PressureScheduler(block, roots, std::move(stages)).run(ordered);
  block.code = std::move(ordered);
  return most;
}

}  // namespace

int latency(Op op) {
  if (op == Op::Store || op == Op::Append) return 0;
  if ((op >= Op::And && op <= Op::ShiftRight) || op == Op::Select) return 1;
  if (op == Op::Gather) return 16;
  return makes_mask(op) && op != Op::LanesToMask ? 3 : 4;
}

unsigned order_for_registers(Block& block, std::span<const ValueId> roots) {
  return ordered_by_pressure(block, roots, std::vector<unsigned>(block.code.size(), 0));
}

void order_term_by_term(Block& block) {
  std::vector<ValueId> roots;
  roots.reserve(block.carried.size());
  for (const Carried& c : block.carried) roots.push_back(c.out);
  ordered_by_pressure(block, roots, parts_of_sums(block));
}

int longest_way(const Block& block) {
  const std::vector<int> height = heights(block, Dependences(block));
  return height.empty() ? 0 : *std::ranges::max_element(height);
}

void order_for_latency(Block& block, std::size_t window) {
  const std::vector<Operation>& code = block.code;
  const auto count = static_cast<std::uint32_t>(code.size());
  Dependences dependences(block);
  const std::vector<int> height = heights(block, dependences);
  std::vector<int> ready(count);
  std::vector<Operation> ordered;
  ordered.reserve(count);
  // The first operations that are not issued are the window; it ends before `end`. Those of them
  // that wait for no other are candidates, in the order of the code.
  std::uint32_t end = 0;
  std::vector<std::uint32_t> candidates;
  const auto extend = [&] {
    if (end == count) return;
    if (!dependences.waits(end)) candidates.push_back(end);
    ++end;
  };
  for (std::size_t k = 0; k < window; ++k) extend();
  const auto best_at = [&](int now) {
    std::uint32_t best = count;
    for (const std::uint32_t n : candidates) {
      if (ready[n] > now) continue;
      // Nothing waits for these, but their operands occupy registers.
      if (code[n].op == Op::Store || code[n].op == Op::Collect || code[n].op == Op::Append)
        return n;
      if (best == count || height[n] > height[best]) best = n;
    }
    return best;
  };
  for (int now = 0; ordered.size() < count; ++now) {
    for (unsigned issued = 0; issued < operations_a_clock;) {
      const std::uint32_t n = best_at(now);
      if (n == count) break;
      ordered.push_back(code[n]);
      candidates.erase(std::ranges::lower_bound(candidates, n));
      dependences.done(n, [&](std::uint32_t m) {
        if (m < end) candidates.insert(std::ranges::lower_bound(candidates, m), m);
      });
      for (const std::uint32_t m : dependences.after(n)) {
        ready[m] = std::max(ready[m], now + latency(code[n].op));
      }
      extend();
      if (code[n].op != Op::Store) ++issued;
    }
  }
  block.code = std::move(ordered);
}

}  // namespace gdr::jit
