// A cache of compiled programs by content: equal programs and geometries are compiled once per
// process.
#pragma once

#include <memory>

#include "emulator/engine/native/program.hpp"

namespace gdr::native {

/// Thread-safe. The last few dozen programs stay in memory.
std::shared_ptr<const CompiledProgram> compiled_program(const Program& program,
                                                        const Geometry& geometry, Target target);

}  // namespace gdr::native
