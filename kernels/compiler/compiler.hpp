// The kernel compiler: from kernel language text to a machine program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiler/charges.hpp"
#include "kernels/compiler/image_limits.hpp"
#include "kernels/compiler/ir/compilation.hpp"

namespace gdr {

namespace kc {
struct FrontResult;
}

/// A text that was read once, to be compiled any number of times with different options; later
/// changes of its files have no effect. Cheap to copy.
class KernelText {
 public:
  /// `file_name` appears in messages, locates includes, and names a kernel that has no name.
  /// `include_dirs` are searched after the including file's directory.
  KernelText(std::string_view text, const std::string& file_name,
             const std::vector<std::string>& include_dirs = {}, std::size_t max_errors = 100);
  /// Reads a file. Throws Error (Io) if it cannot be read.
  static KernelText read(const std::string& path, const std::vector<std::string>& include_dirs = {},
                         std::size_t max_errors = 100);

  /// Compile; include_dirs and max_errors of the options are not used.
  CompileResult compile(const CompileOptions& options = {}) const;
  /// The same text compiled with a cut-off in all calls (CompileOptions::cutoff).
  KernelText with_cutoff(const CutoffPositions& positions) const;
  /// Adds the same kernel in longs (Program::in_longs) to a program of this text, if it differs and
  /// the machine has room for it. Of the options only `geometry` and `stop` matter.
  void add_longs(Program& program, const CompileOptions& options) const;
  /// Limits of periodic images that parameters decide; none if the text has errors.
  std::vector<ImageLimit> image_limits() const;
  /// The texts of the kernels with the derivatives of this one with respect to these variables
  /// (adjoint_texts). Throws Error: Usage or Unsupported for a variable without derivatives,
  /// Program with the diagnostics of a text that has errors.
  std::vector<std::string> adjoints(std::span<const std::string> variables) const;
  /// The charges of a text without errors, whose sources have these coordinates.
  KernelCharges charges(std::span<const std::string> positions) const;

 private:
  std::shared_ptr<const kc::FrontResult> front_;
  std::string file_name_;
  std::optional<CutoffPositions> cutoff_;
};

/// Compile a text. `file_name` appears in messages, locates includes, and names a kernel that has
/// no name. The language: docs/reference/kernel-language.md.
CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options = {});
/// Read and compile a file. Throws Error (Io) if it cannot be read.
CompileResult compile_kernel_file(const std::string& path, const CompileOptions& options = {});

}  // namespace gdr
