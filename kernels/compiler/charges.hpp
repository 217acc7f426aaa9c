// Which variables of a kernel are charges: factors of every term of its sums. A kernel that has
// them can sum a distant cluster of sources over a few other sources with interpolated charges.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr {

/// A source's variable that multiplies one charge in some terms, as a velocity multiplies the mass
/// in a jerk: sums depend on the charge, and on the product of both.
struct CarriedVariable {
  std::string name, charge;
};

/// Variables of a target and a source that are only compared with each other: equal numbers of
/// particles.
struct ComparedNumbers {
  std::string target, source;
};

/// How the results depend on the variables of a source, besides its position. Variables that are in
/// none of the lists have no effect.
struct KernelCharges {
  std::vector<std::string> charges;  ///< each term of each result has exactly one as a factor
  std::vector<CarriedVariable> carried;
  std::vector<ComparedNumbers> numbers;
  std::string obstacle;  ///< why there are no such charges, a sentence part; empty: there are
};

namespace kc {

/// Finds them by the structure of the graph: sums, differences, products, and quotients by what has
/// no charge. `positions`: the sources' coordinates, which may occur anywhere.
KernelCharges find_charges(const Graph& graph, std::span<const std::string> positions);

}  // namespace kc
}  // namespace gdr
