// Kernels for batches: the texts kernels/dense/small_*.gds with sizes put in.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "gdr/kernel.hpp"

namespace gdr::dense {

/// Words of a PE, of which each problem takes some.
constexpr std::size_t words_of_pe = 256;

/// The kernel with these constants, for problems of `words` words; `full` is 1 for products of all
/// bits, else 0.
Kernel batch_kernel(std::string_view name,
                    std::initializer_list<std::pair<std::string_view, std::size_t>> constants,
                    std::size_t full, std::size_t words);

}  // namespace gdr::dense
