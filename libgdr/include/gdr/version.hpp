// The version of the library, and that of its headers (GDR_VERSION_NUMBER, GDR_VERSION_STRING).
#pragma once

#include "gdr/version.h"

namespace gdr {

/// "0.1.0"
const char* version() noexcept;

}  // namespace gdr
