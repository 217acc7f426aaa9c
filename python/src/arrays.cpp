#include "arrays.hpp"

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

template <typename Named>
void add_names(NamedArrays<Named>& arrays) {
  for (std::size_t k = 0; k < arrays.list.size(); ++k) arrays.list[k].name = arrays.names[k];
}

std::size_t stride_bytes(const py::array& a, std::size_t i) {
  return static_cast<std::size_t>(std::abs(a.strides(static_cast<py::ssize_t>(i))));
}

}  // namespace

NamedArrays<NamedInput> input_arrays(const py::dict& arrays, std::size_t n) {
  NamedArrays<NamedInput> out;
  for (const auto& [key, value] : arrays) {
    const auto name = py::cast<std::string>(key);
    const auto a = py::cast<py::array>(value);
    const HostNumber type = number_type(a, name);
    // A raw long consists of two adjacent words.
    const bool pairs = type == HostNumber::Raw && a.ndim() == 2 && a.shape(1) == 2;
    if (a.ndim() != 1 && !pairs) wrong_value(name, "expected a one-dimensional array");
    if (static_cast<std::size_t>(a.shape(0)) != n)
      wrong_value(name,
                  "expected " + std::to_string(n) + " values, got " + std::to_string(a.shape(0)));
    if (pairs && n > 0 && a.strides(1) != 8)
      wrong_value(name, "the two words of a value must be adjacent");
    NamedInput input;
    input.array.data = a.data();
    input.array.type = type;
    input.array.stride = n > 1 ? a.strides(0) : a.itemsize();
    out.names.push_back(name);
    out.arrays.push_back(a);
    out.list.push_back(input);
  }
  add_names(out);
  return out;
}

NamedArrays<NamedResult> result_arrays(const py::dict& arrays) {
  NamedArrays<NamedResult> out;
  for (const auto& [key, value] : arrays) {
    const auto name = py::cast<std::string>(key);
    auto a = py::cast<py::array>(value);
    require_writable(a, name);
    NamedResult result;
    result.array.type = number_type(a, name);
    result.array.stride = a.itemsize();
    if (a.ndim() == 1) {
      if (a.shape(0) > 1) result.array.stride = a.strides(0);
    } else if (a.ndim() != 2 || (a.flags() & py::array::c_style) == 0) {
      wrong_value(name, "expected a one-dimensional array, or a C-contiguous two-dimensional one");
    } else if (result.array.type == HostNumber::Raw) {
      result.array.stride = 2 * a.itemsize();
    }
    result.array.data = a.mutable_data();
    out.names.push_back(name);
    out.arrays.push_back(a);
    out.list.push_back(result);
  }
  add_names(out);
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

template <typename Number>
MatrixView<const Number> matrix_view(const py::array& a, const char* name) {
  if (!py::isinstance<py::array_t<Number>>(a))
    wrong_type(name, "unexpected element type " + type_text(a));
  if (a.ndim() != 2) wrong_value(name, "expected a two-dimensional array");
  const auto rows = static_cast<std::size_t>(a.shape(0));
  const auto columns = static_cast<std::size_t>(a.shape(1));
  const std::size_t one = sizeof(Number);
  const auto* const data = static_cast<const Number*>(a.data());
  const auto is_packed = [&](std::size_t packed, std::size_t length, std::size_t other,
                             std::size_t count) {
    const bool forward = a.strides(static_cast<py::ssize_t>(packed)) > 0 || length <= 1;
    const std::size_t apart = stride_bytes(a, other);
    return forward && (length <= 1 || stride_bytes(a, packed) == one) &&
           (count <= 1 || (a.strides(static_cast<py::ssize_t>(other)) > 0 && apart % one == 0 &&
                           apart >= length * one));
  };
  if (rows == 0 || columns == 0) return {data, std::max(rows, std::size_t{1}), Transpose::No};
  if (is_packed(1, columns, 0, rows))
    return {data, rows > 1 ? stride_bytes(a, 0) / one : columns, Transpose::Yes};
  if (is_packed(0, rows, 1, columns))
    return {data, columns > 1 ? stride_bytes(a, 1) / one : rows, Transpose::No};
  wrong_value(name, "neither rows nor columns are contiguous");
}

template <typename Number>
MatrixView<Number> result_view(py::array& a, const char* name) {
  require_writable(a, name);
  const MatrixView<const Number> view = matrix_view<Number>(a, name);
  return {const_cast<Number*>(view.data), view.stride, view.transpose};
}

template MatrixView<const double> matrix_view<double>(const py::array&, const char*);
template MatrixView<const float> matrix_view<float>(const py::array&, const char*);
template MatrixView<double> result_view<double>(py::array&, const char*);
template MatrixView<float> result_view<float>(py::array&, const char*);

}  // namespace gdr::python
