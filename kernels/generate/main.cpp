// Compiles a kernel of the library to the assembly that is kept in kernels/compiled. The result
// names the text that it was compiled from by a hash, with which a test finds outdated files. An
// assembly of the same text stays.
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "emulator/host/hash.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"

namespace {

/// The kernels of the library are compiled once, so that the search may take a minute.
constexpr unsigned effort = 6;

std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gdr_generate KERNEL.gdk KERNEL.gds\n");
    return 2;
  }
  try {
    const std::string header = fmt::format("# Compiled from {}, {:016x}.\n",
                                           std::filesystem::path(argv[1]).filename().string(),
                                           gdr::Hash().add(text_of(argv[1])).value());
    if (text_of(argv[2]).starts_with(header)) return 0;
    gdr::CompileOptions options;
    options.effort = effort;
    options.cache = false;
    const gdr::CompileResult result = gdr::compile_kernel_file(argv[1], options);
    std::fputs(result.diagnostics.render().c_str(), stderr);
    if (!result.ok() || !result.diagnostics.list.empty()) return 1;
    for (const std::string& remark : result.remarks)
      std::fprintf(stderr, "%s: %s\n", argv[1], remark.c_str());
    std::ofstream file(argv[2], std::ios::binary);
    file << header << result.assembly;
    file.close();
    if (!file) throw gdr::Error(gdr::ErrorCategory::Io, std::string("cannot write ") + argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
  return 0;
}
