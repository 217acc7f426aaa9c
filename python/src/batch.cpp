// Batches of small matrices.
#include "gdr/batch.hpp"

#include "matrices.hpp"

namespace gdr::python {
namespace {

/// A C-contiguous array (count, rows, columns). NumPy's matrices are row-major, the library's are
/// column-major, so that the library sees every matrix transposed.
template <typename Number>
MatrixBatch<Number> batch_of(Number* data, std::size_t r, std::size_t c) {
  return {data, std::max(r, std::size_t{1}), r * c};
}

class PyBatchedMatrices {
 public:
  PyBatchedMatrices(DevicePointer device, bool full)
      : batched_(std::move(device),
                 [full](Device& d) { return BatchedMatrices(d, precision(full)); }) {}

  /// c = a b for every matrix, as c^T = b^T a^T.
  void multiply(const py::array& a, const py::array& b, py::array c) {
    const std::size_t count = dimension(a, 0), m = dimension(a, 1), k = dimension(a, 2);
    const std::size_t n = dimension(b, 2);
    const double* const pa = doubles(a, count * m * k, "a");
    const double* const pb = doubles(b, count * k * n, "b");
    double* const pc = result_doubles(c, count * m * n, "out");
    batched_.run([&](BatchedMatrices& x) {
      x.multiply(count, n, m, k, batch_of(pb, n, k), batch_of(pa, k, m), batch_of(pc, n, m));
    });
  }
  /// In place, on the transposed matrices.
  std::size_t lu(py::array transposed, py::array_t<std::int64_t> pivots) {
    const std::size_t count = dimension(transposed, 0), n = dimension(transposed, 1);
    double* const p = result_doubles(transposed, count * n * n, "a");
    const auto span = pivot_span(pivots, count * n);
    std::size_t singular = 0;
    batched_.run([&](BatchedMatrices& x) { singular = x.lu(count, n, batch_of(p, n, n), span); });
    return singular;
  }
  /// In place; b (count, columns, n) has one right-hand side per row.
  void solve(const py::array& transposed, py::array_t<std::int64_t> pivots, py::array b) {
    const std::size_t count = dimension(transposed, 0), n = dimension(transposed, 1);
    const std::size_t sides = dimension(b, 1);
    const double* const p = doubles(transposed, count * n * n, "lu");
    double* const pb = result_doubles(b, count * sides * n, "b");
    const auto span = pivot_span(pivots, count * n);
    batched_.run([&](BatchedMatrices& x) {
      x.solve(count, n, sides, batch_of(p, n, n), span, batch_of(pb, n, sides));
    });
  }

 private:
  static std::size_t dimension(const py::array& a, py::ssize_t k) {
    if (a.ndim() != 3) throw py::value_error("expected a three-dimensional array");
    return static_cast<std::size_t>(a.shape(k));
  }

  DeviceObject<BatchedMatrices> batched_;
};

}  // namespace

void bind_batch(py::module_& m) {
  py::class_<PyBatchedMatrices>(m, "BatchedMatrices")
      .def(py::init<DevicePointer, bool>())
      .def("multiply", &PyBatchedMatrices::multiply)
      .def("lu", &PyBatchedMatrices::lu)
      .def("solve", &PyBatchedMatrices::solve);
}

}  // namespace gdr::python
