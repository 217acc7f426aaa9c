#include "libgdr/compat/grape/g6_lists.hpp"

#include <algorithm>

#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr::compat::grape {
namespace {

/// Entries of a list of the kernels with neighbours.
constexpr std::size_t list_capacity = 200;
/// After so many calculations whose lists the client did not ask for, the device makes none.
constexpr unsigned calculations_without_lists = 8;
/// A search on the host among as many pairs is divided over threads.
constexpr std::size_t pairs_for_threads = 200'000;

}  // namespace

void NeighbourLists::set_radii(const KeptTargets& targets) {
  radius2_.resize(std::max<std::size_t>(targets.count(), 1));
  for (std::size_t i = 0; i < targets.count(); ++i)
    radius2_[i] = device_radius2(targets.x(i), targets.h2(i));
}

void NeighbourLists::add_inputs(std::vector<NamedInput>& to) const {
  to.push_back({"h2i", radius2_.data()});
}

void NeighbourLists::add_results(std::size_t targets, std::vector<NamedResult>& to) {
  near_count_.resize(targets);
  near_.resize(targets * list_capacity);
  to.push_back({"near", near_count_.data()});
  to.push_back({"near[]", near_.data()});
}

void NeighbourLists::make(const KeptTargets& targets, MovingSources& sources, Source from) {
  sources.predict_on_host();
  const std::size_t n = targets.count();
  if (lists_.size() < n) lists_.resize(n);
  std::size_t searches = 0;
  for (std::size_t i = 0; i < n; ++i) searches += listed_by_device(targets, i, from) ? 0 : 1;
  for_each_target(n, searches * sources.predicted() > pairs_for_threads,
                  [&](std::size_t i) { make_one(targets, sources, i, from); });
  made_ = true;
}

bool NeighbourLists::fit_device(const KeptTargets& targets) const noexcept {
  std::size_t long_lists = 0;
  for (std::size_t i = 0; i < targets.count(); ++i) long_lists += lists_[i].size() > list_capacity;
  return 4 * long_lists <= targets.count();
}

/// Whether the device has listed all neighbours of a target.
bool NeighbourLists::listed_by_device(const KeptTargets& targets, std::size_t i,
                                      Source from) const {
  // The spheres of the device do not have the softening, so a negative one makes them too small.
  return from.device && near_count_[i] <= static_cast<std::int64_t>(list_capacity) &&
         radius2_[i] >= 0 && !(from.softened && !(targets.eps2(i) >= 0));
}

/// Several threads make lists at once.
void NeighbourLists::make_one(const KeptTargets& targets, const MovingSources& sources,
                              std::size_t i, Source from) {
  thread_local std::vector<std::uint32_t> found;
  found.clear();
  const auto at = sources.positions();
  const Coordinates coordinates{at[0].data(), at[1].data(), at[2].data()};
  const double e2 = from.softened ? targets.eps2(i) : 0;
  if (listed_by_device(targets, i, from))
    choose_within(coordinates,
                  {near_.data() + i * list_capacity, static_cast<std::size_t>(near_count_[i])},
                  targets.x(i), e2, targets.h2(i), found);
  else
    find_within(coordinates, sources.predicted(), targets.x(i), e2, targets.h2(i), found);
  std::vector<int>& list = lists_[i];
  list.clear();
  for (const std::uint32_t slot : found) {
    const std::int64_t id = sources.ids()[slot];
    if (id != targets.id(i)) list.push_back(static_cast<int>(id));
  }
  if (!std::ranges::is_sorted(list)) std::ranges::sort(list);
}

void ListDemand::asked(bool worthwhile) noexcept {
  expected_ = worthwhile;
  calculations_ = 0;
}

void ListDemand::count_calculation() noexcept {
  if (++calculations_ > calculations_without_lists) expected_ = false;
}

}  // namespace gdr::compat::grape
