// Snapshots as GADGET-style HDF5: group Header, and a group PartTypeN for each type that is there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// Read a file of ours or of another code. Coordinates, Velocities and Masses may be of any float
/// or integer type; a dataset Masses goes before MassTable; ids may be signed or missing (then they
/// are 1, 2, ... in file order); of the header nothing is required. Throws Error (Io, Input).
Snapshot read_gadget(const std::string& path, Velocities velocities);

/// The bytes of such a file: everything in double, so that reading it gives the same bits. The
/// state of a run stands in the attributes of a group GDR, which other codes pass over.
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

/// Scalars of the header that are handed on.
constexpr const char* kept_header[] = {"BoxSize", "HubbleParam", "Omega0", "OmegaLambda",
                                       "Redshift"};

}  // namespace gdr
