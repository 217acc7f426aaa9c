// Views of NumPy arrays for the library, without copies. The Python package checks the arguments of
// users; the checks here guarantee memory safety.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "gdr/matrix.hpp"

namespace gdr::python {

/// Named arrays, kept alive while the library reads or fills them.
template <typename Named>
struct NamedArrays {
  std::deque<std::string> names;  // at stable addresses
  std::vector<py::array> arrays;
  std::vector<Named> list;
};

/// Whether an object is an array of NumPy, and of no derived class.
bool is_plain_array(py::handle object);

/// Whether all objects are arrays of NumPy, contiguous in any order, of float64 that are finite.
bool are_finite(const py::list& arrays);

/// The same of elements that are 0 or have a size from `least` to `largest`, which are finite.
bool are_between(const py::list& arrays, double least, double largest);

/// Inputs of n elements: float64, float32, int64, or raw 64-bit words, any stride. Throws
/// TypeError or ValueError naming the array.
NamedArrays<NamedInput> input_arrays(const py::dict& arrays, std::size_t n);
/// The same of arrays that need no conversion: of type ndarray, float64 or int64, with n > 0 items,
/// of one number or of a vector or tensor; nothing for others.
std::optional<NamedArrays<NamedInput>> plain_arrays(const py::dict& arrays, std::size_t& n);
/// Writable results: one-dimensional, or (n, elements) for `name[]`.
NamedArrays<NamedResult> result_arrays(const py::dict& arrays);

/// The data of a C-contiguous float64 array with `size` elements.
const double* doubles(const py::array& array, std::size_t size, const char* name);
double* result_doubles(py::array& array, std::size_t size, const char* name);

inline std::size_t rows(const py::array& a) { return static_cast<std::size_t>(a.shape(0)); }
inline std::size_t columns(const py::array& a) { return static_cast<std::size_t>(a.shape(1)); }
void require_shape(const py::array& a, std::size_t r, std::size_t c, const char* name);

/// A view of a two-dimensional array with contiguous rows or columns.
template <typename Number>
MatrixView<const Number> matrix_view(const py::array& array, const char* name);
template <typename Number>
MatrixView<Number> result_view(py::array& array, const char* name);
/// A matrix that is modified in place: Fortran-contiguous, as in LAPACK.
MatrixView<double> in_place(py::array& a, const char* name);

std::span<std::int64_t> pivot_span(py::array_t<std::int64_t>& pivots, std::size_t n);

}  // namespace gdr::python
