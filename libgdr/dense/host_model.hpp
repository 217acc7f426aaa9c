// The host of the predictions, a Core i7-920 as in every node of the published cluster: each
// constant with value, source and reason. Board and link: emulator/board/constants.hpp.
#pragma once

#include "emulator/board/constants.hpp"

namespace gdr::dense::host {

inline constexpr TimeConstant product_rate{
    "host.product", 0.9 * 4 * 2.66e9 * 4, "flops/s",
    "published: four cores at 2.66 GHz, four operations a clock; assumed: 90 % efficiency",
    "matrix products on the host, in panels and small triangles"};

inline constexpr TimeConstant memory{
    "host.memory", 14.6e9, "bytes/s",
    "published: 15.5e9 read, 13.8e9 written, measured on a Core i7 with three channels of "
    "DDR3-1333 "
    "(Tom's Hardware, November 2008; 25.6e9 in theory for the 920's DDR3-1066); their mean",
    "memory traffic beyond the caches: results that are added to C, row exchanges, "
    "products with a short inner dimension"};

inline constexpr TimeConstant cache_line{
    "host.cache_line", 64, "bytes", "published",
    "an element of a row in a column-major matrix transfers a whole line, read and written"};

}  // namespace gdr::dense::host

namespace gdr::dense {

/// The host of a prediction; by default the one above.
struct HostRates {
  double product = host::product_rate.value;   ///< flops/s of matrix products
  double memory = host::memory.value;          ///< bytes/s
  double cache_line = host::cache_line.value;  ///< bytes
  friend bool operator==(const HostRates&, const HostRates&) = default;
};

}  // namespace gdr::dense
