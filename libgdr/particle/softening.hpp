// Softening lengths of each particle, as the kernels take them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gdr/kernel.hpp"
#include "gdr/softening.hpp"
#include "libgdr/tree/gravity_tree.hpp"

namespace gdr {

/// What sources (e2j) and targets (e2i) add to the squares of distances. Empty if all pairs have
/// one length.
struct SquareParts {
  std::vector<double> sources, targets;
};

/// Throws Error (Usage) for too few lengths, and for those of targets that are the sources
/// (`same`), which have none besides; Error (Input) for a length that is negative, not finite or
/// whose square is out of range, naming the particle.
SquareParts square_parts(const Softening& eps, std::size_t n_sources, std::size_t n_targets,
                         bool same);

/// The name of a function, as ranks compare it, with what the softening adds to its work.
std::string name_with_softening(std::string name, const Softening& eps);

/// Sets the softening of a calculation, which refers to the parts.
void set_softening(tree::GravityInput& in, const Softening& eps, const SquareParts& parts);

/// The kernels "gravity" and "gravity_jerk" with softening of each particle.
Kernel softened_gravity();
Kernel softened_gravity_jerk();

}  // namespace gdr
