// Compiled programs by content: the same program on the same machine is compiled once a process.
#pragma once

#include <memory>

#include "emulator/engine/native/program.hpp"

namespace gdr::native {

/// Thread-safe. The last few dozen programs stay in memory.
std::shared_ptr<const CompiledProgram> compiled_program(const Program& program,
                                                        const Geometry& geometry, Target target);

}  // namespace gdr::native
