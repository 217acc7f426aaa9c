#include <algorithm>
#include <map>
#include <tuple>

#include "emulator/engine/jit/order.hpp"

namespace gdr::jit {
namespace {

/// Clocks from an operation to what needs its result, as the hosts have them.
int latency(Op op) {
  switch (op) {
    case Op::And:
    case Op::AndNot:
    case Op::Or:
    case Op::Xor:
    case Op::Ternary:
    case Op::Select:
    case Op::IntAdd:
    case Op::IntSub:
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return 1;
    case Op::Compare:
    case Op::CompareSigned:
    case Op::CompareUnsigned:
    case Op::TestBits:
    case Op::NotFinite:
    case Op::MaskAnd:
    case Op::MaskAndNot:
    case Op::MaskOr:
    case Op::MaskNot:
      return 3;
    case Op::Store:
      return 0;
    default:
      return 4;
  }
}

constexpr unsigned operations_a_clock = 2;

/// Which operations must come before which.
class Dependences {
 public:
  explicit Dependences(const Block& block) : after_(block.code.size()), waits_(block.code.size()) {
    constexpr std::uint32_t nobody = ~std::uint32_t{0};
    std::vector<std::uint32_t> made_by(block.values.size(), nobody);
    std::map<std::tuple<unsigned, std::int32_t>, std::vector<std::uint32_t>> readers;
    const auto key = [](const Place& p) { return std::tuple(unsigned{p.base}, p.offset); };
    for (std::uint32_t n = 0; n < block.code.size(); ++n) {
      const Operation& o = block.code[n];
      each_operand(o, [&](ValueId v) {
        if (made_by[v] != nobody) depend(made_by[v], n);
        if (block.values[v].in_memory) readers[key(block.values[v].place)].push_back(n);
      });
      if (o.op == Op::Load) readers[key(o.place)].push_back(n);
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
  void done(std::size_t n) {
    for (const std::uint32_t m : after_[n]) --waits_[m];
  }

 private:
  void depend(std::uint32_t first, std::uint32_t second) {
    after_[first].push_back(second);
    ++waits_[second];
  }
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<std::uint32_t> waits_;  ///< number of unscheduled predecessors
};

/// By operation: clocks from its beginning to the end of all that waits for it.
std::vector<int> heights(const Block& block, const Dependences& dependences) {
  std::vector<int> height(block.code.size());
  for (std::size_t n = height.size(); n-- > 0;) {
    for (const std::uint32_t m : dependences.after(n)) height[n] = std::max(height[n], height[m]);
    height[n] += latency(block.code[n].op);
  }
  return height;
}

}  // namespace

int longest_way(const Block& block) {
  const std::vector<int> height = heights(block, Dependences(block));
  return height.empty() ? 0 : *std::ranges::max_element(height);
}

void order_for_latency(Block& block, std::size_t window) {
  const std::vector<Operation>& code = block.code;
  const std::size_t count = code.size();
  Dependences dependences(block);
  const std::vector<int> height = heights(block, dependences);
  std::vector<int> ready(count);
  std::vector<Operation> ordered;
  ordered.reserve(count);
  std::vector<bool> done(count);
  std::size_t first = 0;
  const auto best_at = [&](int now) {
    std::size_t best = count, seen = 0;
    for (std::size_t n = first; n < count && seen < window; ++n) {
      if (done[n]) continue;
      ++seen;
      if (dependences.waits(n) || ready[n] > now) continue;
      // Nothing waits for these, but what they read takes up registers.
      if (code[n].op == Op::Store || code[n].op == Op::Collect) return n;
      if (best == count || height[n] > height[best]) best = n;
    }
    return best;
  };
  for (int now = 0; ordered.size() < count; ++now) {
    for (unsigned issued = 0; issued < operations_a_clock;) {
      const std::size_t n = best_at(now);
      if (n == count) break;
      done[n] = true;
      ordered.push_back(code[n]);
      dependences.done(n);
      for (const std::uint32_t m : dependences.after(n)) {
        ready[m] = std::max(ready[m], now + latency(code[n].op));
      }
      while (first < count && done[first]) ++first;
      if (code[n].op != Op::Store) ++issued;
    }
  }
  block.code = std::move(ordered);
}

}  // namespace gdr::jit
