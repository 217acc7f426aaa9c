// Snapshots as GADGET-style HDF5: group Header, and a group PartTypeN for each type of particle.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// Read a file of this library or of another code. Coordinates, Velocities and Masses may be of any
/// float or integer type; a dataset Masses overrides MassTable; ids may be signed or missing (then
/// they are 1, 2, ... in file order); of the header nothing is required. Throws Error (Io, Input).
Snapshot read_gadget(const std::string& path, Velocities velocities);

/// The bytes of such a file: all numbers in double, so that reading gives the same bits. The state
/// of a run is in the attributes of a group GDR, which other codes ignore.
std::vector<char> gadget_image(const Snapshot& snapshot);

/// Names of the state of a run in the group GDR.
struct RunAttribute {
  const char* name;
  double RunState::*number;
};
constexpr RunAttribute run_attributes[] = {{"StartTime", &RunState::start_time},
                                           {"TimeStep", &RunState::time_step},
                                           {"Softening", &RunState::softening},
                                           {"G", &RunState::gravity},
                                           {"StartEnergy", &RunState::start_energy}};

/// Scalars of the header that runs copy to their snapshots.
constexpr const char* kept_header[] = {"BoxSize", "HubbleParam", "Omega0", "OmegaLambda",
                                       "Redshift"};

}  // namespace gdr
