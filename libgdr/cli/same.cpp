#include "libgdr/cli/same.hpp"

#include <string>
#include <vector>

#include "libgdr/cli/ranks.hpp"
#include "libgdr/ranks/agree.hpp"

namespace gdr::cli {

void Digest::mix(const void* data, std::size_t bytes) noexcept {
  const auto* const at = static_cast<const unsigned char*>(data);
  for (std::size_t k = 0; k < bytes; ++k) hash_ = (hash_ ^ at[k]) * 0x100000001b3;
}

Digest digest_of(const Snapshot& snapshot) {
  Digest digest;
  for (const std::vector<double>* values : {&snapshot.position, &snapshot.velocity, &snapshot.mass})
    digest.add(std::span<const double>(*values));
  return digest.add(std::span<const std::uint64_t>(snapshot.id)).add(snapshot.time);
}

void same_on_ranks(std::initializer_list<Given> things) {
  std::vector<std::uint64_t> own;
  for (const Given& thing : things) own.push_back(thing.digest.value());
  const std::vector<std::uint64_t> all = words_of_ranks(own);
  for (std::size_t at = 0; at < all.size(); ++at) {
    const std::size_t k = at % own.size();
    if (all[at] != all[k])
      throw AgreedError(ErrorCategory::Usage, "rank " + std::to_string(at / own.size()) + " " +
                                                  std::string(things.begin()[k].what) +
                                                  " than rank 0; all ranks must be given the same");
  }
}

}  // namespace gdr::cli
