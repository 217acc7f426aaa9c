// The kernels of the library, as source texts inside the program.
#pragma once

#include <span>
#include <string_view>

namespace gdr {

struct BuiltinKernel {
  std::string_view name;    ///< the file's name without its ending
  std::string_view source;  ///< assembly text
};
std::span<const BuiltinKernel> builtin_kernels() noexcept;

}  // namespace gdr
