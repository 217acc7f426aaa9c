// Periodic boxes as arguments: of gdr._box.periodic_box.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "gdr/box.hpp"

namespace gdr::python {

/// Three vectors in rows, and which of them are periods; None: open space.
using BoxArgument = std::optional<std::pair<py::array, std::array<bool, 3>>>;

inline std::optional<PeriodicBox> box_of(const BoxArgument& given) {
  if (!given) return std::nullopt;
  const double* const x = doubles(given->first, 9, "box");
  PeriodicBox box;
  box.periodic = given->second;
  for (std::size_t k = 0; k < 9; ++k) box.vectors[k / 3][k % 3] = x[k];
  return box;
}

}  // namespace gdr::python
