// Operations in the text of a kernel.
#pragma once

#include <string>

#include "emulator/engine/native/gpu/value_text.hpp"

namespace gdr::native {

/// A node as an expression of its operands. Throws Unsupported for operations that GPUs lack.
std::string expression_text(const CodeContext& context, const Graph& g, const Node& node);

}  // namespace gdr::native
