// Conversion of the arrays of the C interface to those of the C++ interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgdr/capi/capi.hpp"
#include "libgdr/device/arrays.hpp"

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

/// Named arrays of the caller, with their number.
struct GivenInputs {
  const gdr_input* arrays;
  std::size_t count;
};
struct GivenResults {
  const gdr_result* arrays;
  std::size_t count;
};

/// n numbers, `each` of an item, as a span; empty for null, if that is allowed.
template <typename Number>
std::span<Number> numbers(std::size_t n, unsigned each, Number* x, const char* name,
                          bool optional = false) {
  check_count(n, each, "particles");
  if (x == nullptr && optional) return {};
  if (n > 0) need(x, name);
  return {x, each * n};
}

/// Coordinates of n particles.
inline std::span<const double> triples(std::size_t n, const double* x, const char* name) {
  check_count(n, 3, "particles");
  return numbers(n, 3, x, name);
}

/// A call of a sum over particles, whose arrays are converted into those of a handle.
template <typename Call, typename Handle>
Call call_of(Handle& sum, std::span<const double> pos,
             std::optional<std::span<const double>> target_pos, const GivenInputs& sources,
             const GivenInputs& targets, const GivenResults& results) {
  return {.pos = pos,
          .target_pos = target_pos,
          .sources = convert<ConstArray>(sources.arrays, sources.count, sum.sources),
          .targets = convert<ConstArray>(targets.arrays, targets.count, sum.targets),
          .results = convert<MutableArray>(results.arrays, results.count, sum.results)};
}

}  // namespace gdr::capi
