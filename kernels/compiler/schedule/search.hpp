// The search for the least initiation interval among several alternatives: numbers of targets per
// PE, unroll factors, ways to handle the prologue.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "kernels/compiler/schedule/bounds.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// One way to compile the loop.
struct Alternative {
  const Problem* problem = nullptr;
  LowerBounds bounds;
  /// Called with each schedule found. The last accepted one is the result.
  Judge judge;
};

struct SearchOptions {
  /// Changes of partial schedules in all attempts: the computing time, independent of the host.
  std::uint64_t changes = 0;
  bool ends_at_first = false;  ///< the first schedule is the result
  /// Called between attempts, with the share of the search that is done.
  std::function<void(double)> progress = {};
};

/// Number of the alternative with the least initiation interval found, of equal ones the first.
std::optional<std::size_t> find_least_ii(std::span<const Alternative> alternatives,
                                         const SearchOptions& options);

}  // namespace gdr::kc
