// HPL on a grid of nodes, simulated step by step: who waits for whom.
#pragma once

#include <cstddef>

#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/usage.hpp"

namespace gdr::predict {

/// A job. The matrix is distributed in square blocks, cyclically over `rows` x `columns` nodes.
struct HplJob {
  std::size_t n = 0;
  std::size_t block = 2048;  ///< that program's default, and the depth of a board of four chips
  std::size_t rows = 1, columns = 1;
  bool look_ahead = true;  ///< factorise the next panel while the boards update the rest
};

/// The grid that is nearest to a square with rows <= columns.
void choose_grid(std::size_t nodes, HplJob& job) noexcept;
/// The largest matrix that four fifths of the machine's memory hold, in whole blocks for every
/// node. The share is what HPL's own guide advises (netlib.org/benchmark/hpl/faqs.html); beside the
/// matrix there are three panels, as in the program that the cluster of 2010 ran
/// (github.com/jmakino/lu2).
std::size_t largest_matrix(const Machine& machine, const HplJob& job) noexcept;

/// Simulate all steps: panel factorisation by the nodes of a column (host, with a search for every
/// pivot over the network), its way along the rows of the grid, exchange of rows with the upper
/// blocks' way along the columns, triangular equations, and the update by the boards, beside which
/// the next panel is factorised. Volumes of messages and numbers of latencies are those of HPL's
/// published analysis (netlib.org/benchmark/hpl/scalability.html), costs of the nodes those of this
/// library's LU (libgdr/dense). Throws Error (Usage) if the grid does not fit the machine or the
/// matrix its memory.
Prediction predict_hpl(const Machine& machine, const HplJob& job);

}  // namespace gdr::predict
