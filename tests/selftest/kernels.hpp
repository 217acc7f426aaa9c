// The kernels of the library as programs.
#pragma once

#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "kernels/builtin.hpp"

namespace gdr::test {

inline std::vector<Program> library_kernels() {
  std::vector<Program> list;
  for (const BuiltinKernel& kernel : builtin_kernels())
    list.push_back(assemble(kernel.source, "kernel").program.value());
  return list;
}

}  // namespace gdr::test
