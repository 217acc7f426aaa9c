// The idioms among the values that depend on one number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/native/translate/idiom_trial.hpp"

namespace gdr::native {

using IdiomsByNode = std::vector<std::optional<Idiom>>;

/// Finds the idioms among the nodes of a cone: `cone` begins with the number x. A node is an idiom
/// if it equals c/x or c/sqrt(x) to a part in a thousand at every exponent and both signs of x, is
/// NaN where x is NaN, and not finite where x is infinite. Within a few powers of two of the ends
/// of the range, where the steps of a sequence leave it, the program's value is meaningless and
/// replaced by the function's. For a root, negative x must give infinities or NaN: a sequence that
/// is finite there is not replaced.
void find_idioms(const Graph& graph, const std::vector<std::uint32_t>& cone, IdiomsByNode& found);

}  // namespace gdr::native
