// Adjoint kernels: derivatives of sums of a kernel's results with respect to its variables, as
// kernels of the language.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

/// For a kernel with results f_k(i) = sum over j of c_k(i, j), the text of the kernel that computes
/// the derivatives of S = sum over k and i of g_k(i) f_k(i) with respect to these variables: names
/// of targets and parameters, or of sources and parameters; a name may be that of an array, vector
/// or tensor.
///
/// The weight g_k, the derivative dS/df_k, is an input of the new kernel with the name of the
/// result and `_bar` behind it; a derivative dS/dx is a result with the name of the variable and
/// `_bar` behind it. If a name is taken, another `_bar` follows. Other inputs keep their names;
/// those that no derivative needs are left out. With respect to sources, the roles are exchanged:
/// the sources of the kernel are the targets of the new one, and its targets and weights the
/// sources. The derivative with respect to a parameter is the sum of its result over all targets.
///
/// A minimum or maximum with an index has the derivative of the source with this index, which the
/// new kernel compares with the result: the index is an input under its name; the k smallest and
/// largest likewise. So are logarithms of sums of exponentials and weighted means, whose sources
/// count by their shares, and products, which are divided by each factor. Lists and ints have no
/// derivatives.
///
/// Throws Error: Usage for a name that is none, for an int, a result, or for targets and sources
/// together; Unsupported for a table, and for a minimum, a maximum or the k smallest or largest
/// without an index.
std::string adjoint_text(const Graph& graph, std::span<const std::string> variables);

/// The variables of the kernel that have one of these names, as a text for each kernel that their
/// derivatives need: of targets first, then of sources. Parameters are in the first of them.
std::vector<std::string> adjoint_texts(const Graph& graph, std::span<const std::string> variables);

}  // namespace gdr::kc
