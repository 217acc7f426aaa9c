// Many small matrices at once.
#include "gdr/batch.hpp"

#include "matrices.hpp"

namespace gdr::python {
namespace {

/// Stacks (count, rows, columns), C-contiguous: NumPy's matrices are by rows, the library's by
/// columns, so every matrix arrives transposed.
template <typename Number>
MatrixBatch<Number> stack(Number* data, std::size_t r, std::size_t c) {
  return {data, std::max(r, std::size_t{1}), r * c};
}

class PySmall {
 public:
  PySmall(DevicePointer device, bool full)
      : small_(std::move(device), [full](Device& d) { return SmallMatrices(d, precision(full)); }) {
  }

  /// c = a b of each: c^T = b^T a^T.
  void multiply(const py::array& a, const py::array& b, py::array c) {
    const std::size_t count = dimension(a, 0), m = dimension(a, 1), k = dimension(a, 2);
    const std::size_t n = dimension(b, 2);
    const double* const pa = doubles(a, count * m * k, "a");
    const double* const pb = doubles(b, count * k * n, "b");
    double* const pc = result_doubles(c, count * m * n, "out");
    small_.run([&](SmallMatrices& x) {
      x.multiply(count, n, m, k, stack(pb, n, k), stack(pa, k, m), stack(pc, n, m));
    });
  }
  /// In place; the matrices hold their transposes.
  std::size_t lu(py::array transposed, py::array_t<std::int64_t> pivots) {
    const std::size_t count = dimension(transposed, 0), n = dimension(transposed, 1);
    double* const p = result_doubles(transposed, count * n * n, "a");
    const auto span = pivot_span(pivots, count * n);
    std::size_t singular = 0;
    small_.run([&](SmallMatrices& x) { singular = x.lu(count, n, stack(p, n, n), span); });
    return singular;
  }
  /// b (count, columns, n), in place: the right sides by rows.
  void solve(const py::array& transposed, py::array_t<std::int64_t> pivots, py::array b) {
    const std::size_t count = dimension(transposed, 0), n = dimension(transposed, 1);
    const std::size_t sides = dimension(b, 1);
    const double* const p = doubles(transposed, count * n * n, "lu");
    double* const pb = result_doubles(b, count * sides * n, "b");
    const auto span = pivot_span(pivots, count * n);
    small_.run([&](SmallMatrices& x) {
      x.solve(count, n, sides, stack(p, n, n), span, stack(pb, n, sides));
    });
  }

 private:
  static std::size_t dimension(const py::array& a, py::ssize_t k) {
    if (a.ndim() != 3) throw py::value_error("a stack of matrices has three dimensions");
    return static_cast<std::size_t>(a.shape(k));
  }

  Held<SmallMatrices> small_;
};

}  // namespace

void bind_batch(py::module_& m) {
  py::class_<PySmall>(m, "SmallMatrices")
      .def(py::init<DevicePointer, bool>())
      .def("multiply", &PySmall::multiply)
      .def("lu", &PySmall::lu)
      .def("solve", &PySmall::solve);
}

}  // namespace gdr::python
