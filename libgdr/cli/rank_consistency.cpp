#include "libgdr/cli/rank_consistency.hpp"

#include <string>
#include <vector>

#include "libgdr/cli/ranks.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr::cli {

Hash hash_of(const Snapshot& snapshot) {
  Hash hash;
  for (const std::vector<double>* values : {&snapshot.position, &snapshot.velocity, &snapshot.mass})
    hash.add(std::span<const double>(*values));
  return hash.add(std::span<const std::uint64_t>(snapshot.id)).add(snapshot.time);
}

void require_same_on_ranks(std::initializer_list<RankInput> inputs) {
  std::vector<std::uint64_t> own;
  for (const RankInput& input : inputs) own.push_back(input.hash.value());
  const std::vector<std::uint64_t> all = gather_from_ranks(own);
  for (std::size_t at = 0; at < all.size(); ++at) {
    const std::size_t k = at % own.size();
    if (all[at] != all[k])
      throw CollectiveError(ErrorCategory::Usage,
                            "rank " + std::to_string(at / own.size()) + " " +
                                std::string(inputs.begin()[k].difference) +
                                " than rank 0; all ranks must be given the same");
  }
}

}  // namespace gdr::cli
