// Why a kernel is as fast as it is: a report for people.
#pragma once

#include <string>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"
#include "kernels/compiler/back.hpp"

namespace gdr::kc {

/// Clocks; what issues and which ports are used in every instruction of the body; how full each of
/// them is; and where every value lives, from which clock to which.
std::string report(const Compiled& compiled, const Program& program, const Geometry& geometry);

}  // namespace gdr::kc
