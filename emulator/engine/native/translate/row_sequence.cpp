#include "emulator/engine/native/translate/row_sequence.hpp"

namespace gdr::native {

RowSequence::RowSequence(const Graph& graph, const std::vector<std::uint32_t>& cone,
                         const std::vector<std::uint32_t>& wanted)
    : row_(graph.size(), 0) {
  std::vector<bool> needed(graph.size(), false);
  for (const std::uint32_t n : wanted) needed[n] = true;
  needed = with_operands(graph, std::move(needed));
  const auto row_of = [&](Ref r) {
    if (r == no_ref) return std::size_t{0};
    if (!graph.is_constant(r)) return row_[node_of(r)];
    rows_.emplace_back().fill(graph[r].bits);
    constants_.emplace_back(rows_.size() - 1, graph[r].bits);
    return rows_.size() - 1;
  };
  rows_.emplace_back();
  for (const std::uint32_t n : cone) {
    if (!needed[n] || n == cone.front()) continue;
    const Node& node = graph[ref_to(n)];
    Step step{node, row_of(node.a), row_of(node.b), row_of(node.c), rows_.size()};
    rows_.emplace_back();
    row_[n] = step.to;
    steps_.push_back(step);
  }
}

void RowSequence::run(const SampleRow& x) {
  rows_[0] = x;
  for (const Step& s : steps_) {
    apply(s.node, Rows<double, std::uint64_t>{rows_[s.a].data(), rows_[s.b].data(),
                                              rows_[s.c].data(), rows_[s.to].data()});
  }
}

std::vector<std::uint64_t> RowSequence::key() const {
  std::vector<std::uint64_t> key;
  for (const Step& s : steps_) {
    key.push_back(static_cast<std::uint64_t>(s.node.op) | (std::uint64_t{s.node.detail} << 8));
    key.insert(key.end(), {s.a, s.b, s.c, s.to});
  }
  for (const auto& [row, bits] : constants_) key.insert(key.end(), {row, bits});
  return key;
}

}  // namespace gdr::native
