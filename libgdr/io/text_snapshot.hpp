// Snapshots as plain text: a line `m x y z vx vy vz` for each particle.
#pragma once

#include <string>
#include <string_view>

#include "libgdr/io/snapshot.hpp"

namespace gdr {

/// Parse a text snapshot. `#` starts a comment; empty lines are skipped. Comment lines of the
/// form `#gdr: name = number` carry the time and the state of the run (see
/// docs/guides/simulations.md). Particles get type 1 and the ids 1, 2, .... Throws Error (Input):
/// `name:line:column: ...`.
Snapshot parse_text_snapshot(std::string_view text, const std::string& name);

/// The text form of a snapshot; parsing it gives the same bits. Types, ids and scalars of the
/// header are not stored.
std::string text_snapshot(const Snapshot& snapshot);

}  // namespace gdr
