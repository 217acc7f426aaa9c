#include "libgdr/particle/tree_on_ranks.hpp"

#include <algorithm>

#include "emulator/host/hash.hpp"
#include "libgdr/ranks/gathered.hpp"

namespace gdr {
AllParticles::AllParticles(RankGroup& ranks, const tree::GravityInput& own, bool moving)
    : source_offsets(offsets_of_ranks(ranks, own.n_sources)),
      target_offsets(own.same ? source_offsets : offsets_of_ranks(ranks, own.n_targets)) {
  /// An array of this rank, of `each` numbers for a particle, and where those of all ranks go.
  struct Gathered {
    const double* own;
    std::size_t each;
    const std::vector<std::size_t>& offsets;
    std::vector<double>& all;
  };
  std::vector<Gathered> arrays{{own.source, 3, source_offsets, source},
                               {own.mass, 1, source_offsets, mass}};
  if (moving) arrays.push_back({own.source_velocity, 3, source_offsets, source_velocity});
  if (!own.same) arrays.push_back({own.target, 3, target_offsets, target});
  if (!own.same && moving)
    arrays.push_back({own.target_velocity, 3, target_offsets, target_velocity});
  if (own.softening_of_each)
    arrays.push_back({own.source_square, 1, source_offsets, source_square});
  if (own.softening_of_each && !own.same)
    arrays.push_back({own.target_square, 1, target_offsets, target_square});
  const std::size_t r = ranks.rank();
  collectively(&ranks, [&] {
    for (const Gathered& a : arrays) {
      a.all.resize(a.each * a.offsets.back());
      std::copy_n(a.own, a.each * (a.offsets[r + 1] - a.offsets[r]),
                  a.all.data() + a.each * a.offsets[r]);
    }
    acceleration.resize(3 * target_offsets.back());
    potential.resize(target_offsets.back());
    if (moving) jerk.resize(3 * target_offsets.back());
    if (own.target_source == nullptr) return;
    target_source.resize(target_offsets.back());
    for (std::size_t k = 0; k < own.n_targets; ++k)
      target_source[target_offsets[r] + k] =
          own.target_source[k] + static_cast<std::uint32_t>(source_offsets[r]);
  });
  if (own.target_source != nullptr)
    bytes_received +=
        gather_items(ranks, target_source.data(), sizeof(std::uint32_t), target_offsets);
  for (const Gathered& a : arrays)
    bytes_received += gather_items(ranks, a.all.data(), a.each * sizeof(double), a.offsets);
}

tree::GravityInput AllParticles::input(const tree::GravityInput& own) const {
  const double* const at_targets = own.same ? source_velocity.data() : target_velocity.data();
  return {.n_targets = target_offsets.back(),
          .target = own.same ? source.data() : target.data(),
          .n_sources = source_offsets.back(),
          .source = source.data(),
          .mass = mass.data(),
          .softening = own.softening,
          .softening_of_each = own.softening_of_each,
          .source_square = source_square.data(),
          .target_square = own.same ? source_square.data() : target_square.data(),
          .target_velocity = at_targets,
          .source_velocity = source_velocity.data(),
          .target_source = own.target_source == nullptr ? nullptr : target_source.data(),
          .engine_speed = own.engine_speed,
          .same = own.same};
}

tree::GravityResults AllParticles::results() {
  return {.acceleration = acceleration.data(),
          .potential = potential.data(),
          .jerk = jerk.empty() ? nullptr : jerk.data()};
}

void AllParticles::copy_results(const RankGroup& ranks, const tree::GravityResults& own) const {
  const std::size_t first = target_offsets[ranks.rank()];
  const std::size_t count = target_offsets[ranks.rank() + 1] - first;
  const auto copy = [&](const std::vector<double>& all, std::size_t each, double* to) {
    if (to != nullptr) std::copy_n(all.data() + each * first, each * count, to);
  };
  copy(acceleration, 3, own.acceleration);
  copy(potential, 1, own.potential);
  copy(jerk, 3, own.jerk);
}

std::size_t AllParticles::sources_bytes() const noexcept {
  return (source.size() + mass.size() + source_velocity.size() + source_square.size()) *
         sizeof(double);
}

std::size_t AllParticles::bytes() const noexcept {
  return sources_bytes() + (target.size() + target_velocity.size() + target_square.size() +
                            acceleration.size() + potential.size() + jerk.size()) *
                               sizeof(double);
}

void require_equal_options(RankGroup& ranks, const TreeOptions& options, double softening) {
  Hash hash;
  hash.add(options.accuracy).add(options.method).add(options.degree).add(options.theta);
  hash.add(options.group_size).add(options.leaf_size).add(options.samples).add(options.calls);
  if (const TreeReport* const e = options.earlier) hash.add(e->method).add(e->degree).add(e->theta);
  require_equal(ranks, hash.value(), "gives other options of the tree than rank 0");
  require_equal(ranks, Hash().add(softening).value(), "gives another softening than rank 0");
}

}  // namespace gdr
