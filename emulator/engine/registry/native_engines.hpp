// Native engines, and those on a GPU, by name.
#pragma once

#include <memory>
#include <string_view>

#include "emulator/engine/api/engine.hpp"

namespace gdr::native {

/// "native", "native-mixed", "native-float", "native-fast", "gpu", "gpu-float" or "gpu-exact", the
/// last three also with a device ("gpu:1"); null for another name. `jit`: as VectorEngine has it.
/// Throws gdr::Error (Unsupported) in a build without these engines, and without such a device.
std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa, bool jit);

}  // namespace gdr::native
