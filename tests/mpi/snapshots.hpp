// Comparison of snapshot files.
#pragma once

#include <string>

#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// Checks that two snapshots have the same time, positions and velocities.
inline void check_same_particles(const std::string& a, const std::string& b) {
  const gdr::Snapshot x = gdr::read_snapshot(a), y = gdr::read_snapshot(b);
  CHECK((x.position == y.position));
  CHECK((x.velocity == y.velocity));
  CHECK(x.time == y.time);
}

}  // namespace gdr::test
