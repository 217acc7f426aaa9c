#include "libgdr/ranks/equal_calls.hpp"

#include "emulator/host/hash.hpp"

namespace gdr {
namespace {

template <typename Named>
void add_names(Hash& hash, std::span<const Named> arrays) {
  hash.add(arrays.size());
  for (const Named& a : arrays) hash.add(a.name).add(a.array.type);
}

}  // namespace

void require_equal_properties(RankGroup& ranks, std::span<const EqualProperty> properties) {
  for (const EqualProperty& p : properties)
    require_equal(ranks, p.hash, std::string("gives ") + p.other + " than rank 0");
}

EqualProperty names_of(const CallArrays& arrays) {
  Hash hash;
  add_names(hash, arrays.sources);
  add_names(hash, arrays.targets);
  add_names(hash, arrays.results);
  hash.add(arrays.has_targets ? 1 : 0);
  return {hash.value(), "arrays of other names or types"};
}

}  // namespace gdr
