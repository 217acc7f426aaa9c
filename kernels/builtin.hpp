// The kernels of the library, as source texts inside the program.
#pragma once

#include <span>
#include <string_view>

namespace gdr {

struct BuiltinKernel {
  std::string_view name;    ///< the file's name without its ending
  std::string_view source;  ///< assembly text
  std::string_view text;    ///< text of the kernel language; empty: it is written in assembly
  /// The same law in the kernel language, with the same variables, which engines that compute in
  /// doubles execute in longs: of a kernel in assembly, or where `text` approximates a function for
  /// shorts. Empty: they execute `text`.
  std::string_view doubles;
};
/// The pair laws of the library.
std::span<const BuiltinKernel> builtin_kernels() noexcept;
/// The assembly text of a kernel for matrices, which libgdr/dense runs. Throws Error (Internal) for
/// an unknown name.
std::string_view dense_kernel(std::string_view name);

}  // namespace gdr
