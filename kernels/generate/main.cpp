// Compiles a kernel of the library while the library is built: NAME.gdk to assembly text.
#include <cstdio>
#include <fstream>

#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gdr_generate KERNEL.gdk KERNEL.gds\n");
    return 2;
  }
  try {
    const gdr::CompileResult result = gdr::compile_kernel_file(argv[1]);
    std::fputs(result.diagnostics.render().c_str(), stderr);
    if (!result.ok() || !result.diagnostics.list.empty()) return 1;
    for (const std::string& remark : result.remarks)
      std::fprintf(stderr, "%s: %s\n", argv[1], remark.c_str());
    std::ofstream file(argv[2], std::ios::binary);
    file << result.assembly;
    file.close();
    if (!file) throw gdr::Error(gdr::ErrorCategory::Io, std::string("cannot write ") + argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
  return 0;
}
