// In place of native_engines.cpp in a build of the exact engines alone.
#include <string>

#include "emulator/engine/registry/native_engines.hpp"
#include "gdr/error.hpp"

namespace gdr::native {

std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa, bool) {
  if (!name.starts_with("native") && !name.starts_with("gpu")) return nullptr;
  throw Error(ErrorCategory::Unsupported, "this build has no engine \"" + std::string(name) +
                                              "\"; use \"vector\" or \"reference\"");
}

}  // namespace gdr::native
