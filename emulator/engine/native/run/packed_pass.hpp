// Passes whose targets can be packed, and the sources of such a pass.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/api/pass.hpp"
#include "emulator/engine/native/run/lane_sources.hpp"

namespace gdr::native {

/// The largest sum of integers that lanes hold like the words of PEs.
constexpr std::uint64_t largest_integer_sum(Precision precision) noexcept {
  return (std::uint64_t{1} << (precision == Precision::Float ? 31 : 35)) - 1;
}

/// Whether a pass needs to know how large sums of integers become: only where the network adds up
/// those of blocks.
bool bounds_integers(const Pass& pass, const LoadedProgram& loaded);

/// The largest magnitude of the integers of a pass's targets and sources. Completes pending writes.
std::uint64_t largest_integer(const Pass& pass, const LoadedProgram& loaded,
                              std::vector<RecordSegment>& segments);

/// Whether a pass consists of one results-only loop from Start to End, writes all targets that it
/// uses, and reads the results of all of them. `integer_change`: that of PackedPlan in this pass.
bool may_pack(const Pass& pass, const LoadedProgram& loaded,
              std::optional<std::uint64_t> integer_change, Precision precision);

/// Whether sums of such a pass may be added up in any order. Not if a result is passed from one
/// block.
bool adds_in_any_order(const Pass& pass, const LoadedProgram& loaded);

/// Sets `segments` to the sources of all runs; to none if chips have different ones. Completes
/// pending writes if memories have to be compared.
void find_segments(const Pass& pass, const LoadedProgram& loaded,
                   std::vector<RecordSegment>& segments);

}  // namespace gdr::native
