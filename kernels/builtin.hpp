// The kernels of the library, as source texts inside the program.
#pragma once

#include <span>
#include <string_view>

namespace gdr {

struct BuiltinKernel {
  std::string_view name;    ///< the file's name without its ending
  std::string_view source;  ///< assembly text
};
/// Pair laws: of targets and sources.
std::span<const BuiltinKernel> builtin_kernels() noexcept;
/// For matrices: they run on whole machines only, fed by libgdr/dense.
std::span<const BuiltinKernel> dense_kernels() noexcept;
/// The text of one of them. Throws Error (Internal) for a name that none has.
std::string_view dense_kernel(std::string_view name);

}  // namespace gdr
