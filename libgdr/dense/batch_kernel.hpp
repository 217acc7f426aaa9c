// Kernels for batches: instances of kernels/dense/small_*.gds for given sizes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "gdr/kernel.hpp"

namespace gdr::dense {

/// Long words of a PE's local memory, shared by the problems of the PE.
constexpr std::size_t pe_words = 256;

/// The kernel with these constants, for problems of `words` words; `full` is 1 for full precision,
/// else 0.
Kernel batch_kernel(std::string_view name,
                    std::initializer_list<std::pair<std::string_view, std::size_t>> constants,
                    std::size_t full, std::size_t words);

}  // namespace gdr::dense
