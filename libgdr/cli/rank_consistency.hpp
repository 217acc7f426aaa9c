// Inputs that must be equal on all ranks: another file under the same name on one node, or another
// option in one rank's command line, would give wrong results without any error.
#pragma once

#include <initializer_list>
#include <string_view>

#include "emulator/host/hash.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr::cli {

/// Hash of particles and time.
Hash hash_of(const Snapshot& snapshot);

/// An input of every rank, by its hash.
struct RankInput {
  std::string_view difference;  ///< "has another --eps": message about a rank that differs
  Hash hash;
};
/// Collective. Throws Error (Usage) on all ranks if an input differs from that of rank 0.
void require_same_on_ranks(std::initializer_list<RankInput> inputs);

}  // namespace gdr::cli
