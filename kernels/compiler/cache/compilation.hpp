// Compilations as texts of the cache: what follows the front end, which always runs, so that
// warnings and errors are those of the text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/compiler/ir/compilation.hpp"

namespace gdr::kc {

/// A hash of the sources of the compiler and of the assembler, made by the build: programs of
/// another version are never used.
std::string_view compiler_version() noexcept;

/// All that a compilation depends on: the kernel's name, the texts of all files, the options and
/// the version of the compiler.
std::string cache_key(std::string_view kernel_name, std::span<const SourceText> sources,
                      const CompileOptions& options, std::string_view version = compiler_version());

/// A successful compilation as a text.
std::string cache_text(const CompileResult& result);

/// Everything that follows the front end from such a text, into `result`; the program is assembled.
/// False, with `result` unchanged, if it is no such text.
bool restore(std::string_view text, std::string_view kernel_name, const CompileOptions& options,
             CompileResult& result);

}  // namespace gdr::kc
