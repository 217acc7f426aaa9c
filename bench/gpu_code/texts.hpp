// The texts that the GPU engines write for the kernels of the library and for matrix products.
#pragma once

#include <string>
#include <string_view>

#include "bench/measurement.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {

/// A text, and how many interactions, or multiplications, a thread has in a pass of its loop.
struct LoopText {
  std::string text;  ///< empty: the loop does not run on the device
  double interactions = 1;
};

/// The loop of a kernel of the library: runs it with a few particles on a GPU engine.
LoopText loop_text(const Context& context, std::string_view engine, const Kernel& kernel);

/// The main kernel of matrix products.
std::vector<std::string> product_texts(const Context& context, std::string_view engine);

}  // namespace gdr::bench
