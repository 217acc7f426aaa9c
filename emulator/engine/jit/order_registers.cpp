#include <algorithm>

#include "emulator/engine/jit/order.hpp"

namespace gdr::jit {
namespace {

class Scheduler {
 public:
  Scheduler(const Block& block, std::span<const ValueId> roots) : b_(block), ops_(block.code) {
    index();
    for (const ValueId root : roots) rank(root);
  }

  unsigned run(std::vector<Operation>& ordered) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t k = 0; k < ops_.size(); ++k) {
      if (waiting_[k] == 0) ready.push_back(k);
    }
    int alive = static_cast<int>(b_.carried.size());
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
      ordered.push_back(ops_[chosen]);
    }
    return static_cast<unsigned>(most);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  bool holds_register(ValueId v) const {
    return b_.values[v].type == Type::Vector && !b_.values[v].in_memory;
  }

  void index() {
    op_of_.assign(b_.values.size(), none);
    uses_left_.assign(b_.values.size(), 0);
    users_.resize(ops_.size());
    waiting_.assign(ops_.size(), 0);
    rank_.assign(ops_.size(), none);
    for (std::uint32_t k = 0; k < ops_.size(); ++k) op_of_[ops_[k].to] = k;
    for (std::uint32_t k = 0; k < ops_.size(); ++k) {
      each_operand(ops_[k], [&](ValueId v) {
        ++uses_left_[v];
        if (op_of_[v] == none) return;
        ++waiting_[k];
        users_[op_of_[v]].push_back(k);
      });
    }
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
    int sum = holds_register(ops_[k].to) && uses_left_[ops_[k].to] > 0 ? 1 : 0;
    std::array<ValueId, 5> seen{};
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

  void issue(std::uint32_t k, std::vector<std::uint32_t>& ready) {
    each_operand(ops_[k], [&](ValueId v) { --uses_left_[v]; });
    for (const std::uint32_t user : users_[k]) {
      if (--waiting_[user] == 0) ready.push_back(user);
    }
  }

  const Block& b_;
  const std::vector<Operation>& ops_;
  std::vector<std::uint32_t> op_of_;  ///< by value
  std::vector<unsigned> uses_left_;   ///< by value
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<unsigned> waiting_;  ///< by operation: number of missing operands
  std::vector<unsigned> rank_;
  unsigned next_rank_ = 0;
};

}  // namespace

unsigned order_for_registers(Block& block, std::span<const ValueId> roots) {
  std::vector<Operation> ordered;
  ordered.reserve(block.code.size());
  const unsigned most = Scheduler(block, roots).run(ordered);
  block.code = std::move(ordered);
  return most;
}

}  // namespace gdr::jit
