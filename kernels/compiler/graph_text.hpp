// Graphs as text, for tests and debugging.
#pragma once

#include <string>
#include <string_view>

#include "kernels/compiler/graph.hpp"

namespace gdr::kc {

std::string_view name_of(Fn fn) noexcept;
std::string_view name_of(Type type) noexcept;

/// One line for the kernel, each variable, each node and each contribution:
///     kernel gravity flops 38
///     i xi long?                      i, j, p, f: the kind; a `?` where the type is the default
///     p sigma[16] short
///     %2 short = sub %0 %1            type, function, operands
///     ax += %9 if %4
///     rmin min= %7, nn = %3
std::string to_text(const Graph& graph);

}  // namespace gdr::kc
