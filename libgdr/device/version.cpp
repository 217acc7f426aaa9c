// The version of the library, as the build knows it.
#include "gdr/version.hpp"

#ifndef GDR_VERSION
#error "the build defines GDR_VERSION (see libgdr/CMakeLists.txt)"
#endif

namespace gdr {

const char* version() noexcept { return GDR_VERSION; }

}  // namespace gdr
