// Views of NumPy arrays for the library, without copies. The Python package checks names, types and
// shapes; the checks here guarantee memory safety for every caller.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "gdr/matrix.hpp"

namespace gdr::python {

/// Named arrays of one length, kept alive while the library reads or fills them.
template <typename Named>
struct NamedArrays {
  std::vector<std::string> names;
  std::vector<py::array> arrays;  // keeps the data alive
  std::vector<Named> list;
};

/// Inputs of n elements: float64, float32, int64, or raw 64-bit words, any stride. Throws
/// TypeError or ValueError naming the array.
NamedArrays<NamedInput> input_arrays(const py::dict& arrays, std::size_t n);
/// Writable results: one-dimensional, or (n, elements) for `name[]`.
NamedArrays<NamedResult> result_arrays(const py::dict& arrays);

/// The data of a C-contiguous float64 array with `size` elements.
const double* doubles(const py::array& array, std::size_t size, const char* name);
double* result_doubles(py::array& array, std::size_t size, const char* name);

/// A view of a two-dimensional array with contiguous rows or columns.
template <typename Number>
MatrixView<const Number> matrix_view(const py::array& array, const char* name);
template <typename Number>
MatrixView<Number> result_view(py::array& array, const char* name);

}  // namespace gdr::python
