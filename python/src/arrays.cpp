#include "arrays.hpp"

#include <bit>

namespace gdr::python {
namespace {

[[noreturn]] void wrong_type(const std::string& name, const std::string& what) {
  throw py::type_error(name + ": " + what);
}
[[noreturn]] void wrong_value(const std::string& name, const std::string& what) {
  throw py::value_error(name + ": " + what);
}

std::string type_text(const py::array& a) { return py::str(py::object(a.dtype())); }

/// The element type of an array in native byte order.
HostNumber number_type(const py::array& a, const std::string& name) {
  if (py::isinstance<py::array_t<double>>(a)) return HostNumber::F64;
  if (py::isinstance<py::array_t<float>>(a)) return HostNumber::F32;
  if (py::isinstance<py::array_t<std::int64_t>>(a)) return HostNumber::I64;
  if (py::isinstance<py::array_t<std::uint64_t>>(a)) return HostNumber::Raw;
  wrong_type(name, "expected an array of float64, float32, int64 or uint64 (raw words), got " +
                       type_text(a));
}

void require_writable(const py::array& a, const std::string& name) {
  if (!a.writeable()) wrong_value(name, "the array is read-only");
}

/// Bytes of an element, from its type: array::itemsize of pybind11 before 2.12 reads the descriptor
/// of NumPy 1, and returns 0 with NumPy 2.
std::ptrdiff_t element_bytes(HostNumber type) { return type == HostNumber::F32 ? 4 : 8; }

}  // namespace

bool is_plain_array(py::handle object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) ==
         reinterpret_cast<PyObject*>(py::detail::npy_api::get().PyArray_Type_);
}

namespace {

/// Whether all arrays are dense ones of float64, without an element whose bits are `bad`.
template <typename Bad>
bool have_none(const py::list& arrays, const Bad& bad) {
  for (const py::handle object : arrays) {
    if (!is_plain_array(object)) return false;
    const auto a = py::reinterpret_borrow<py::array>(object);
    if ((a.flags() & (py::array::c_style | py::array::f_style)) == 0 ||
        !py::isinstance<py::array_t<double>>(a))
      return false;
    const auto* const numbers = static_cast<const double*>(a.data());
    const py::ssize_t count = a.size();
    std::uint64_t found = 0;
    for (py::ssize_t k = 0; k < count; ++k) found |= bad(std::bit_cast<std::uint64_t>(numbers[k]));
    if (found != 0) return false;
  }
  return true;
}

constexpr std::uint64_t sign = std::uint64_t{1} << 63;

}  // namespace

bool are_finite(const py::list& arrays) {
  // Adding one to an exponent of all ones carries into the sign bit.
  constexpr std::uint64_t one = std::uint64_t{1} << 52;
  return have_none(arrays, [](std::uint64_t x) { return ((x & (sign - one)) + one) & sign; });
}

bool are_between(const py::list& arrays, double least, double largest) {
  const auto from = std::bit_cast<std::uint64_t>(least);
  const std::uint64_t range = std::bit_cast<std::uint64_t>(largest) - from;
  return have_none(arrays, [=](std::uint64_t x) {
    const std::uint64_t size = x & ~sign;
    return static_cast<std::uint64_t>((size != 0) & (size - from > range));
  });
}

NamedArrays<NamedInput> input_arrays(const py::dict& arrays, std::size_t n) {
  NamedArrays<NamedInput> out;
  for (const auto& [key, value] : arrays) {
    const std::string& name = out.names.emplace_back(py::cast<std::string>(key));
    const py::array& a = out.arrays.emplace_back(py::cast<py::array>(value));
    const HostNumber type = number_type(a, name);
    // A raw long consists of two adjacent words.
    const bool pairs = type == HostNumber::Raw && a.ndim() == 2 && a.shape(1) == 2;
    if (a.ndim() != 1 && !pairs) wrong_value(name, "expected a one-dimensional array");
    if (static_cast<std::size_t>(a.shape(0)) != n)
      wrong_value(name,
                  "expected " + std::to_string(n) + " values, got " + std::to_string(a.shape(0)));
    if (pairs && n > 0 && a.strides(1) != 8)
      wrong_value(name, "the two words of a value must be adjacent");
    ConstArray& input = out.list.emplace_back(NamedInput{name, {}}).array;
    input.data = a.data();
    input.type = type;
    input.stride = n > 1 ? a.strides(0) : element_bytes(type);
  }
  return out;
}

std::optional<NamedArrays<NamedInput>> plain_arrays(const py::dict& arrays, std::size_t& n) {
  std::optional<NamedArrays<NamedInput>> out(std::in_place);
  n = 0;
  for (const auto& [key, value] : arrays) {
    if (!is_plain_array(value)) return {};
    const auto a = py::reinterpret_borrow<py::array>(value);
    const bool is_floating = py::isinstance<py::array_t<double>>(a);
    const py::ssize_t row = a.ndim() == 2 ? a.shape(1) : 1;
    if ((!is_floating && !py::isinstance<py::array_t<std::int64_t>>(a)) || a.ndim() < 1 ||
        a.ndim() > 2 || (a.ndim() == 2 && row < 2) || a.shape(0) == 0)
      return {};
    // For the library an item stride of zero means packed items: vectors that are repeated go
    // column by column.
    if (a.ndim() == 2 && a.shape(0) > 1 && a.strides(0) == 0) return {};
    const auto items = static_cast<std::size_t>(a.shape(0));
    if (n != 0 && items != n) return {};
    n = items;
    const std::string& name = out->names.emplace_back(py::cast<std::string>(key));
    ConstArray& input = out->list.emplace_back(NamedInput{name, {}}).array;
    input.data = a.data();
    input.type = is_floating ? HostNumber::F64 : HostNumber::I64;
    input.item_stride = n > 1 ? a.strides(0) : static_cast<py::ssize_t>(row * 8);
    input.stride = a.ndim() == 2 ? a.strides(1) : input.item_stride;
    input.size = n * static_cast<std::size_t>(row);
    input.row = a.ndim() == 2 ? static_cast<std::size_t>(row) : 0;
    out->arrays.push_back(a);
  }
  if (n == 0) return {};
  return out;
}

NamedArrays<NamedResult> result_arrays(const py::dict& arrays) {
  NamedArrays<NamedResult> out;
  for (const auto& [key, value] : arrays) {
    const std::string& name = out.names.emplace_back(py::cast<std::string>(key));
    py::array& a = out.arrays.emplace_back(py::cast<py::array>(value));
    require_writable(a, name);
    MutableArray& result = out.list.emplace_back(NamedResult{name, {}}).array;
    result.data = a.mutable_data();
    result.type = number_type(a, name);
    result.stride = element_bytes(result.type);
    if (a.ndim() == 1) {
      if (a.shape(0) > 1) result.stride = a.strides(0);
    } else if (a.ndim() != 2 || (a.flags() & py::array::c_style) == 0) {
      wrong_value(name, "expected a one-dimensional array, or a C-contiguous two-dimensional one");
    } else if (result.type == HostNumber::Raw) {
      result.stride *= 2;
    }
  }
  return out;
}

const double* doubles(const py::array& array, std::size_t size, const char* name) {
  if (!py::isinstance<py::array_t<double>>(array))
    wrong_type(name, "expected float64, got " + type_text(array));
  if ((array.flags() & py::array::c_style) == 0) wrong_value(name, "the array is not C-contiguous");
  if (static_cast<std::size_t>(array.size()) != size)
    wrong_value(name, "expected " + std::to_string(size) + " elements, got " +
                          std::to_string(array.size()));
  return static_cast<const double*>(array.data());
}

double* result_doubles(py::array& array, std::size_t size, const char* name) {
  require_writable(array, name);
  return const_cast<double*>(doubles(array, size, name));
}

void require_shape(const py::array& a, std::size_t r, std::size_t c, const char* name) {
  if (a.ndim() != 2 || rows(a) != r || columns(a) != c)
    wrong_value(name, "expected shape (" + std::to_string(r) + ", " + std::to_string(c) + ")");
}

template <typename Number>
MatrixView<const Number> matrix_view(const py::array& a, const char* name) {
  if (!py::isinstance<py::array_t<Number>>(a))
    wrong_type(name, "unexpected element type " + type_text(a));
  if (a.ndim() != 2) wrong_value(name, "expected a two-dimensional array");
  const std::size_t rows = python::rows(a), columns = python::columns(a), one = sizeof(Number);
  const auto* const data = static_cast<const Number*>(a.data());
  if (rows == 0 || columns == 0) return {data, std::max(rows, std::size_t{1}), Transpose::No};
  // Elements between rows (columns) of `length` contiguous elements; 0 for another layout.
  const auto stride = [one](py::ssize_t packed, std::size_t length, py::ssize_t other,
                            std::size_t count) -> std::size_t {
    if (length > 1 && packed != static_cast<py::ssize_t>(one)) return 0;
    if (count <= 1) return length;
    const auto apart = static_cast<std::size_t>(other);
    return other > 0 && apart % one == 0 && apart >= length * one ? apart / one : 0;
  };
  if (const std::size_t apart = stride(a.strides(1), columns, a.strides(0), rows))
    return {data, apart, Transpose::Yes};
  if (const std::size_t apart = stride(a.strides(0), rows, a.strides(1), columns))
    return {data, apart, Transpose::No};
  wrong_value(name, "neither rows nor columns are contiguous");
}

template <typename Number>
MatrixView<Number> result_view(py::array& a, const char* name) {
  require_writable(a, name);
  const MatrixView<const Number> view = matrix_view<Number>(a, name);
  return {const_cast<Number*>(view.data), view.stride, view.transpose};
}

MatrixView<double> in_place(py::array& a, const char* name) {
  if (a.ndim() != 2 || (a.flags() & py::array::f_style) == 0)
    wrong_value(name, "expected a Fortran-contiguous matrix");
  const MatrixView<double> view = result_view<double>(a, name);
  return {view.data, std::max(rows(a), std::size_t{1}), Transpose::No};
}

std::span<std::int64_t> pivot_span(py::array_t<std::int64_t>& pivots, std::size_t n) {
  if (static_cast<std::size_t>(pivots.size()) != n)
    wrong_value("pivots", "expected " + std::to_string(n) + " values");
  return {pivots.mutable_data(), n};
}

template MatrixView<const double> matrix_view<double>(const py::array&, const char*);
template MatrixView<const float> matrix_view<float>(const py::array&, const char*);
template MatrixView<double> result_view<double>(py::array&, const char*);
template MatrixView<float> result_view<float>(py::array&, const char*);

}  // namespace gdr::python
