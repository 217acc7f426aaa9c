// Helpers of the matrix bindings: checks of shapes and layouts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "gdr/matrix.hpp"

namespace gdr::python {

[[noreturn]] inline void wrong_shape(const char* name, const std::string& what) {
  throw py::value_error(std::string(name) + ": " + what);
}

inline std::size_t rows(const py::array& a) { return static_cast<std::size_t>(a.shape(0)); }
inline std::size_t columns(const py::array& a) { return static_cast<std::size_t>(a.shape(1)); }

inline void require_shape(const py::array& a, std::size_t r, std::size_t c, const char* name) {
  if (a.ndim() != 2 || rows(a) != r || columns(a) != c)
    wrong_shape(name, "expected shape (" + std::to_string(r) + ", " + std::to_string(c) + ")");
}

inline MatrixPrecision precision(bool full) {
  return full ? MatrixPrecision::Full : MatrixPrecision::Chip;
}

inline std::span<std::int64_t> pivot_span(py::array_t<std::int64_t>& pivots, std::size_t n) {
  if (static_cast<std::size_t>(pivots.size()) != n)
    wrong_shape("pivots", "expected " + std::to_string(n) + " values");
  return {pivots.mutable_data(), n};
}

/// A matrix that is modified in place: Fortran-contiguous, as in LAPACK.
inline MatrixView<double> in_place(py::array& a, const char* name) {
  if (a.ndim() != 2 || (a.flags() & py::array::f_style) == 0)
    wrong_shape(name, "expected a Fortran-contiguous matrix");
  const MatrixView<double> view = result_view<double>(a, name);
  return {view.data, std::max(rows(a), std::size_t{1}), Transpose::No};
}

}  // namespace gdr::python
