// Conversion of the arrays of the C interface to those of the C++ interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libgdr/capi/capi.hpp"

namespace gdr::capi {

/// Type and stride of an array for the C++ interface. A raw array must give its stride, as its
/// width depends on the variable.
template <typename Array, typename Given>
Array array_of(const Given& given) {
  constexpr std::ptrdiff_t element_bytes[] = {sizeof(double), sizeof(float), sizeof(std::int64_t)};
  const int type = number_of(given.type);
  if (type < GDR_F64 || type > GDR_RAW)
    throw Error(ErrorCategory::Usage,
                std::string("array \"") + given.name + "\" has an unknown type");
  if (given.type == GDR_RAW && given.stride == 0)
    throw Error(ErrorCategory::Usage,
                std::string("give raw array \"") + given.name + "\" its stride in bytes");
  Array array;
  array.data = given.data;
  array.type = static_cast<HostNumber>(given.type);
  array.stride = given.stride != 0 ? given.stride : element_bytes[given.type];
  return array;
}

/// Converts `count` arrays into `out`, and returns it. Throws Error (Usage) for null pointers and
/// unknown types.
template <typename Array, typename Named, typename Given>
const std::vector<Named>& convert(const Given* given, std::size_t count, std::vector<Named>& out) {
  if (count > 0) need(given, "arrays");
  out.clear();
  for (std::size_t k = 0; k < count; ++k) {
    need(given[k].name, "name");
    out.push_back({given[k].name, array_of<Array>(given[k])});
  }
  return out;
}

}  // namespace gdr::capi
