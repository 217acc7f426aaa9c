// Factorisations and solutions of dense linear systems.
#include "gdr/linear.hpp"
#include "matrices.hpp"

namespace gdr::python {
namespace {

Triangle triangle(bool lower) { return lower ? Triangle::Lower : Triangle::Upper; }

class PySolver {
 public:
  PySolver(DevicePointer device, bool full, std::size_t block, double device_flops, bool overlap)
      : solver_(std::move(device), [&](Device& d) {
          return LinearSolver(d, options(full, block, device_flops, overlap));
        }) {}

  std::optional<std::size_t> lu(py::array a, py::array_t<std::int64_t> pivots) {
    const auto view = in_place(a, "a");
    const std::size_t m = rows(a), n = columns(a);
    const auto span = pivot_span(pivots, std::min(m, n));
    std::optional<std::size_t> singular;
    solver_.run([&](LinearSolver& x) { singular = x.lu(m, n, view, span); });
    return singular;
  }
  void solve(const py::array& lu, py::array_t<std::int64_t> pivots, py::array b, bool transposed) {
    const std::size_t n = rows(lu);
    require_shape(lu, n, n, "lu");
    require_shape(b, n, columns(b), "b");
    auto factors = matrix_view<double>(lu, "lu");
    if (transposed)
      factors.transpose = factors.transpose == Transpose::No ? Transpose::Yes : Transpose::No;
    const auto view = in_place(b, "b");
    const auto span = pivot_span(pivots, n);
    solver_.run([&](LinearSolver& x) { x.solve(n, columns(b), factors, span, view); });
  }
  std::optional<std::size_t> cholesky(bool lower, py::array a) {
    const auto view = in_place(a, "a");
    const std::size_t n = rows(a);
    require_shape(a, n, n, "a");
    std::optional<std::size_t> bad;
    solver_.run([&](LinearSolver& x) { bad = x.cholesky(triangle(lower), n, view); });
    return bad;
  }
  void solve_cholesky(bool lower, py::array factor, py::array b) {
    const std::size_t n = rows(factor);
    require_shape(factor, n, n, "factor");
    require_shape(b, n, columns(b), "b");
    const auto f = in_place(factor, "factor");
    const auto view = in_place(b, "b");
    solver_.run([&](LinearSolver& x) {
      x.solve_cholesky(triangle(lower), n, columns(b), {f.data, f.stride}, view);
    });
  }
  /// `lower` refers to a as stored, row-major or column-major.
  void solve_triangular(bool right, bool lower, bool unit, bool transposed, double alpha,
                        const py::array& a, py::array b) {
    const std::size_t n = right ? columns(b) : rows(b);
    require_shape(a, n, n, "a");
    auto view_a = matrix_view<double>(a, "a");
    const bool by_rows = view_a.transpose == Transpose::Yes;
    view_a.transpose = by_rows != transposed ? Transpose::Yes : Transpose::No;
    const auto view = in_place(b, "b");
    solver_.run([&](LinearSolver& x) {
      x.solve_triangular(right ? Side::Right : Side::Left, triangle(lower != by_rows),
                         unit ? Diagonal::Unit : Diagonal::Stored, rows(b), columns(b), alpha,
                         view_a, view);
    });
  }

 private:
  static LinearOptions options(bool full, std::size_t block, double device_flops, bool overlap) {
    LinearOptions o;
    o.precision = precision(full);
    o.block = block;
    o.device_flops = device_flops;
    o.overlap = overlap;
    return o;
  }

  DeviceObject<LinearSolver> solver_;
};

}  // namespace

void bind_solver(py::module_& m) {
  py::class_<PySolver>(m, "LinearSolver")
      .def(py::init<DevicePointer, bool, std::size_t, double, bool>())
      .def("lu", &PySolver::lu)
      .def("solve", &PySolver::solve)
      .def("cholesky", &PySolver::cholesky)
      .def("solve_cholesky", &PySolver::solve_cholesky)
      .def("solve_triangular", &PySolver::solve_triangular);
}

}  // namespace gdr::python
