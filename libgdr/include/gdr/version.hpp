// The version of the library.
#pragma once

namespace gdr {

/// "0.1.0"
const char* version() noexcept;

}  // namespace gdr
