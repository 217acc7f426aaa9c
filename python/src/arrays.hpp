// NumPy arrays as the library takes them, where they lie. The package has checked names, types and
// shapes before; what is checked here again keeps memory safe whoever calls.
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
  std::vector<py::array> kept;
  std::vector<Named> list;
};

/// Inputs of n elements: float64, float32, int64, or raw 64-bit words, any stride. Throws
/// TypeError or ValueError naming the array.
NamedArrays<NamedInput> input_arrays(const py::dict& arrays, std::size_t n);
/// Results, writable: of one dimension, or (n, elements) for `name[]`.
NamedArrays<NamedResult> result_arrays(const py::dict& arrays);

/// The data of a C-contiguous array of doubles with `size` elements.
const double* doubles(const py::array& array, std::size_t size, const char* name);
double* result_doubles(py::array& array, std::size_t size, const char* name);

/// A matrix of two dimensions whose rows or columns are packed, as the library has it.
template <typename Number>
MatrixView<const Number> matrix_view(const py::array& array, const char* name);
template <typename Number>
MatrixView<Number> result_view(py::array& array, const char* name);

}  // namespace gdr::python
