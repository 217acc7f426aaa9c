// The functions among the values that depend on one number or two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/native/translate/graph_values.hpp"

namespace gdr::native {

/// A function and its arguments, which are numbers of the graph, or for powers a constant instead
/// of one.
struct RecognisedFunction {
  NodeOp op = NodeOp::Function;
  std::uint8_t detail = 0;
  Ref x = no_ref, y = no_ref;
  double constant = 0;
};
using FunctionsByNode = std::vector<std::optional<RecognisedFunction>>;

/// Finds functions of x among the values that depend on it. `only_powers`: powers, for values that
/// are no other function.
void find_functions(GraphValues& values, Ref x, bool only_powers, FunctionsByNode& found);

/// Finds functions of two numbers: powers, which long numbers have no logarithm for, and angles.
void find_functions_of_two(GraphValues& values, Ref x, Ref y, FunctionsByNode& found);

}  // namespace gdr::native
