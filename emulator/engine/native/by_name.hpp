// Native engines by name.
#pragma once

#include <memory>
#include <string_view>

#include "emulator/engine/engine.hpp"

namespace gdr::native {

/// "native", "native-mixed", "native-float" or "native-fast"; null for another name. Throws
/// gdr::Error (Unsupported) in a build of the exact engines alone.
std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa);

}  // namespace gdr::native
