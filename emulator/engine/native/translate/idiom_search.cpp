#include "emulator/engine/native/translate/idiom_search.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "emulator/engine/native/translate/row_sequence.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

/// Candidate nodes.
std::vector<IdiomTrial> first_candidates(const Graph& graph,
                                         const std::vector<std::uint32_t>& cone) {
  const std::vector<std::uint32_t> all(cone.begin() + 1, cone.end());
  RowSequence sequence(graph, cone, all);
  const SamplePoints& points = idiom_domain().points.front();
  sequence.run(points.x);
  std::vector<IdiomTrial> trials;
  for (const std::uint32_t n : all) {
    const Node& node = graph[ref_to(n)];
    // The user's rounding of a reciprocal stays.
    if (node.kind != Kind::Number || node.op == NodeOp::AsNumber || node.op == NodeOp::Round)
      continue;
    NearConstant roots, reciprocals;
    for (std::size_t i = 0; i < row_lanes; ++i) {
      const double value = number_at(sequence.values(n), i);
      reciprocals.add(value * points.recip[i]);
      if (number_at(points.x, i) > 0) roots.add(value * points.rsqrt[i]);
    }
    for (const auto& [op, range] :
         {std::pair(NodeOp::Rsqrt, roots), std::pair(NodeOp::Recip, reciprocals)}) {
      if (range.spread() <= largest_idiom_error) trials.emplace_back(op, n, range.centre());
    }
  }
  return trials;
}

IdiomsByNode try_all(std::vector<IdiomTrial>& trials, RowSequence& sequence) {
  for (const SamplePoints& points : idiom_domain().points) {
    sequence.run(points.x);
    for (IdiomTrial& t : trials) t.try_at(points, sequence.values(t.node()));
  }
  sequence.run(idiom_domain().special);
  IdiomsByNode found;
  for (const IdiomTrial& t : trials) found.push_back(t.result(sequence.values(t.node())));
  return found;
}

/// Outcomes by sequence: kernels and segments repeat the same few. `key`: sequence and trials.
IdiomsByNode try_cached(const std::vector<std::uint64_t>& key, std::vector<IdiomTrial>& trials,
                        RowSequence& sequence) {
  constexpr std::size_t max_cached = 200;
  static std::mutex mutex;
  static std::map<std::vector<std::uint64_t>, IdiomsByNode> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto at = known.find(key); at != known.end()) return at->second;
  }
  const IdiomsByNode found = try_all(trials, sequence);
  const std::lock_guard lock(mutex);
  if (known.size() >= max_cached) known.clear();
  return known.emplace(key, found).first->second;
}

}  // namespace

void find_idioms(const Graph& graph, const std::vector<std::uint32_t>& cone, IdiomsByNode& found) {
  const MachineFloatMode mode;
  std::vector<IdiomTrial> trials = first_candidates(graph, cone);
  if (trials.empty()) return;
  std::vector<std::uint32_t> wanted;
  for (const IdiomTrial& t : trials) wanted.push_back(t.node());
  RowSequence sequence(graph, cone, wanted);
  std::vector<std::uint64_t> key = sequence.key();
  for (const IdiomTrial& t : trials) {
    key.push_back(static_cast<std::uint64_t>(t.op()) + (sequence.row_of_node(t.node()) << 8));
  }
  const IdiomsByNode by_trial = try_cached(key, trials, sequence);
  for (std::size_t n = 0; n < trials.size(); ++n) {
    if (by_trial[n]) found[trials[n].node()] = by_trial[n];
  }
}

}  // namespace gdr::native
