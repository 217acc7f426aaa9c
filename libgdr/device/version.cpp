// The version of the library, defined by the build.
#include "gdr/version.hpp"

#ifndef GDR_VERSION
#error "the build defines GDR_VERSION (see libgdr/CMakeLists.txt)"
#endif

namespace gdr {

const char* version() noexcept { return GDR_VERSION; }

}  // namespace gdr
