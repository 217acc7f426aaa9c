// Prevents verification failures in masked lanes.
//
// A run on doubles is valid only if every lane of every operation is exact. Lanes that a predicate
// excludes often hold stale values, or numbers outside of an operation's domain (r^2 = 0 of a
// coincident pair), and would fail. Where nobody observes an operation's result in the lanes in
// which a mask has some value (lane_liveness.hpp), its operands may be anything there: replacing
// them by 1 or the like changes no bit of what is observed.
#pragma once

#include <set>

#include "emulator/engine/vector/doubles/frame_layout.hpp"

namespace gdr {

/// The lists of a DoublesSection as operations on rows, with the live rows after each.
struct MaskedLists {
  struct List {
    std::vector<RowOp> ops;
    std::set<RowId> live;
  };
  List before, enter, pass, last, after;
  /// Rows that two `last` ones need as the pass before left them; the others may be anything.
  std::set<RowId> carried;
};

/// Works out the lists. Everything that is exported is observed after `last` and `after`. Two or
/// more `last` stand behind any `pass`; in a RowProgram that is `whole`, only `after` does, of
/// which nothing but results is wanted then. Adds to the program's constants.
MaskedLists mask_lanes(RowProgram& program, const DoublesKernels& kernels);

}  // namespace gdr
