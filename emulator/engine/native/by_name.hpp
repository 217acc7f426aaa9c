// Native engines by name.
#pragma once

#include <memory>
#include <string_view>

#include "emulator/engine/engine.hpp"

namespace gdr::native {

/// "native", "native-mixed", "native-float", "native-fast", "gpu" or "gpu-float", the last two also
/// with a device ("gpu:1"); null for another name. Throws gdr::Error (Unsupported) in a build of
/// the exact engines alone, and without such a device.
std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa);

}  // namespace gdr::native
