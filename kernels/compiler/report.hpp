// The report of a compilation: what limits the speed of the kernel.
#pragma once

#include <string>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"
#include "kernels/compiler/codegen.hpp"

namespace gdr::kc {

/// Clocks; operations and port use of every instruction of the body, with totals; and storage and
/// lifetime of every value.
std::string report(const CompiledKernel& compiled, const Program& program,
                   const Geometry& geometry);

}  // namespace gdr::kc
