// Distributed matrices.
#include "gdr/distributed.hpp"

#include "matrices.hpp"

namespace gdr::python {
namespace {

class PyDistributed {
 public:
  PyDistributed(DevicePointer device, unsigned grid_rows, std::size_t block, bool full,
                bool look_ahead)
      : grid_(std::move(device), [&](Device& d) {
          // The constructor is collective: other ranks may wait for a thread that needs the GIL.
          std::optional<DistributedMatrices> grid;
          const GridOptions options{grid_rows, block, precision(full), look_ahead};
          DeviceHandle::without_gil([&] { grid.emplace(d, options); });
          return std::move(*grid);
        }) {}

  py::tuple grid() { return py::make_tuple(grid_->grid_rows(), grid_->grid_columns()); }
  /// Global indices of this rank's rows (columns) of a matrix with m rows (n columns).
  std::vector<std::size_t> rows_of(std::size_t m) {
    std::vector<std::size_t> all(grid_->local_rows(m));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = grid_->global_row(k);
    return all;
  }
  std::vector<std::size_t> columns_of(std::size_t n) {
    std::vector<std::size_t> all(grid_->local_columns(n));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = grid_->global_column(k);
    return all;
  }

  void multiply(std::size_t m, std::size_t n, std::size_t k, double alpha, py::array a, py::array b,
                double beta, py::array c) {
    const double* const pa = part(a, m, k, "a");
    const double* const pb = part(b, k, n, "b");
    double* const pc = part(c, m, n, "out");
    grid_.run([&](DistributedMatrices& g) { g.multiply(m, n, k, alpha, pa, pb, beta, pc); });
  }
  std::optional<std::size_t> lu(std::size_t n, std::size_t extra, py::array a,
                                py::array_t<std::int64_t> pivots) {
    double* const pa = part(a, n, n + extra, "a");
    const auto span = pivot_span(pivots, n);
    std::optional<std::size_t> singular;
    grid_.run([&](DistributedMatrices& g) { singular = g.lu(n, extra, pa, span); });
    return singular;
  }
  py::array_t<double> solve(std::size_t n, py::array a) {
    double* const pa = part(a, n, n + 1, "a");
    std::vector<double> x;
    grid_.run([&](DistributedMatrices& g) { x = g.solve(n, pa); });
    return py::array_t<double>(static_cast<py::ssize_t>(x.size()), x.data());
  }
  py::tuple times() {
    const GridTimes t = grid_->times();
    return py::make_tuple(t.seconds, t.update, t.panel, t.hidden);
  }

 private:
  /// This rank's elements of an m x n matrix.
  double* part(py::array& a, std::size_t m, std::size_t n, const char* name) {
    require_shape(a, grid_->local_rows(m), grid_->local_columns(n), name);
    return in_place(a, name).data;
  }

  DeviceObject<DistributedMatrices> grid_;
};

}  // namespace

void bind_distributed(py::module_& m) {
  py::class_<PyDistributed>(m, "DistributedMatrices")
      .def(py::init<DevicePointer, unsigned, std::size_t, bool, bool>())
      .def_property_readonly("grid", &PyDistributed::grid)
      .def("rows", &PyDistributed::rows_of)
      .def("columns", &PyDistributed::columns_of)
      .def("multiply", &PyDistributed::multiply)
      .def("lu", &PyDistributed::lu)
      .def("solve", &PyDistributed::solve)
      .def_property_readonly("times", &PyDistributed::times);
}

}  // namespace gdr::python
