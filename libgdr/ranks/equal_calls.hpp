// What must be equal on all ranks in a call with named arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gdr/device.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {

/// A property of a call as a hash, and how a message names another one: "another kernel".
struct EqualProperty {
  std::uint64_t hash;
  const char* other;
};

/// Throws on all ranks, "rank R gives `other` than rank 0", for the first property that differs.
/// Collective.
void require_equal_properties(RankGroup& ranks, std::span<const EqualProperty> properties);

/// Names and types of the arrays of a call.
struct CallArrays {
  std::span<const NamedInput> sources, targets;
  std::span<const NamedResult> results;
  bool has_targets = false;  ///< whether targets have positions of their own
};
EqualProperty names_of(const CallArrays& arrays);

}  // namespace gdr
