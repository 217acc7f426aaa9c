// The language of kernels for GPUs: types and functions that all texts begin with.
#pragma once

#include <string>

namespace gdr::native {

/// Types and functions of doubles or floats: numbers, integers and masks are `number`, `bits` and
/// `bool`; words of memory are bits.
std::string language_text(bool floats);

}  // namespace gdr::native
