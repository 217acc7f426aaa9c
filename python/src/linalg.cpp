// Dense linear algebra: products, linear systems, batches of small matrices, distributed matrices.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "arrays.hpp"
#include "gdr/batch.hpp"
#include "gdr/distributed.hpp"
#include "gdr/linear.hpp"
#include "gdr/matrix.hpp"

namespace gdr::python {
namespace {

MatrixPrecision precision(bool full) {
  return full ? MatrixPrecision::Full : MatrixPrecision::Chip;
}

/// Work on matrices of this order takes no more than milliseconds.
constexpr std::size_t small_order = 32;
bool is_small(std::size_t order) { return order <= small_order; }

/// Whether the elements are doubles in rows without gaps, of no derived class of arrays.
bool is_plain(py::handle object, int dimensions) {
  if (!is_plain_array(object)) return false;
  const auto a = py::reinterpret_borrow<py::array>(object);
  return a.ndim() == dimensions && py::isinstance<py::array_t<double, py::array::c_style>>(a) &&
         a.size() > 0;
}

/// In the order of Reuse.
constexpr std::array reuse_names{"", "b", "a", "both"};

/// The matrices of one product, c = alpha a b + beta c.
template <typename Number>
struct Factors {
  std::size_t m, n, k;
  MatrixView<const Number> a, b;
  MatrixView<Number> c;

  Factors(const py::array& left, const py::array& right, py::array& out)
      : a(matrix_view<Number>(left, "a")),
        b(matrix_view<Number>(right, "b")),
        c(result_view<Number>(out, "out")) {
    m = rows(left);
    k = columns(left);
    n = columns(right);
    require_shape(right, k, n, "b");
    require_shape(out, m, n, "out");
  }
};

class PyProduct {
 public:
  PyProduct(DevicePointer device, bool full)
      : product_(std::move(device),
                 [full](Device& d) { return MatrixProduct(d, precision(full)); }) {}

  /// All arrays float64 or all float32.
  void compute(double alpha, const py::array& a, const py::array& b, double beta, py::array c,
               const std::string& reuse) {
    const Reuse same = enumerator<Reuse>(reuse_names, "reuse", reuse);
    wait();
    if (py::isinstance<py::array_t<float>>(c))
      compute_as<float>(static_cast<float>(alpha), a, b, static_cast<float>(beta), c, same);
    else
      compute_as<double>(alpha, a, b, beta, c, same);
  }
  /// The product of two small matrices that need no conversion; None for others. Many small calls
  /// are fast: one call from Python, and no checks there.
  py::object plain(py::handle left, py::handle right) {
    if (!is_plain(left, 2) || !is_plain(right, 2)) return py::none();
    const auto a = py::reinterpret_borrow<py::array>(left);
    const auto b = py::reinterpret_borrow<py::array>(right);
    const std::size_t m = rows(a), k = columns(a), n = columns(b);
    if (rows(b) != k || !is_small(m) || !is_small(n) || !is_small(k)) return py::none();
    py::array_t<double> c({m, n});
    const auto view = [](const py::array& x) {
      return MatrixView<const double>{static_cast<const double*>(x.data()), columns(x),
                                      Transpose::Yes};
    };
    const MatrixView<double> out{c.mutable_data(), n, Transpose::Yes};
    wait();
    product_.run([&](MatrixProduct& p) { p.compute(m, n, k, 1, view(a), view(b), 0, out); }, true);
    return c;
  }
  void start(double alpha, const py::array& a, const py::array& b, double beta, py::array c) {
    const Factors<double> f(a, b, c);
    wait();
    pending_ = {a, b, c};
    product_.device().begin_background();
    product_.run([&](MatrixProduct& p) { p.start(f.m, f.n, f.k, alpha, f.a, f.b, beta, f.c); });
  }
  void wait() {
    if (pending_.empty()) return;
    const auto arrays = std::move(pending_);  // alive until the product has ended
    pending_.clear();
    product_.device().end_background();
    product_.run([&](MatrixProduct& p) { p.wait(); });
  }
  void invalidate() {
    product_.run([&](MatrixProduct& p) { p.invalidate(); });
  }
  ~PyProduct() {
    if (!pending_.empty()) product_.device().end_background();
  }
  PyProduct(const PyProduct&) = delete;
  PyProduct& operator=(const PyProduct&) = delete;
  std::size_t depth() { return product_->depth(); }

 private:
  template <typename Number>
  void compute_as(Number alpha, const py::array& a, const py::array& b, Number beta, py::array& c,
                  Reuse reuse) {
    const Factors<Number> f(a, b, c);
    product_.run(
        [&](MatrixProduct& p) { p.compute(f.m, f.n, f.k, alpha, f.a, f.b, beta, f.c, reuse); },
        is_small(f.m) && is_small(f.n) && is_small(f.k));
  }

  std::vector<py::array> pending_;       // arrays of a product in the background
  DeviceObject<MatrixProduct> product_;  // destroyed before the arrays that it fills
};

Triangle triangle(bool lower) { return lower ? Triangle::Lower : Triangle::Upper; }

class PySolver {
 public:
  PySolver(DevicePointer device, bool full, std::size_t block, double device_flops, bool overlap)
      : solver_(std::move(device), [&](Device& d) {
          return LinearSolver(d, {precision(full), block, device_flops, overlap});
        }) {}

  std::optional<std::size_t> lu(py::array a, py::array_t<std::int64_t> pivots) {
    const auto view = in_place(a, "a");
    const std::size_t m = rows(a), n = columns(a);
    const auto span = pivot_span(pivots, std::min(m, n));
    return solver_.run([&](LinearSolver& x) { return x.lu(m, n, view, span); },
                       is_small(m) && is_small(n));
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
    solver_.run([&](LinearSolver& x) { x.solve(n, columns(b), factors, span, view); },
                is_small(n) && is_small(columns(b)));
  }
  /// The solution of a small system that needs no conversion; None for others, and if it is
  /// singular or not finite. Many small calls are fast: one call from Python, and no checks there.
  py::object plain_solve(py::handle matrix, py::handle right_side) {
    if (!is_plain(matrix, 2) || !is_plain(right_side, 1)) return py::none();
    const auto a = py::reinterpret_borrow<py::array>(matrix);
    const auto b = py::reinterpret_borrow<py::array>(right_side);
    const std::size_t n = rows(a);
    if (columns(a) != n || static_cast<std::size_t>(b.size()) != n || !is_small(n))
      return py::none();
    std::array<double, small_order * small_order> factors;
    std::array<std::int64_t, small_order> pivots;
    const auto* const from = static_cast<const double*>(a.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) factors[i + n * j] = from[n * i + j];
    py::array_t<double> x(b.size());
    double* const to = x.mutable_data();
    std::copy_n(static_cast<const double*>(b.data()), n, to);
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!std::all_of(factors.data(), factors.data() + n * n, finite) ||
        !std::all_of(to, to + n, finite))
      return py::none();
    const auto work = [&](LinearSolver& s) {
      const std::span<std::int64_t> swaps(pivots.data(), n);
      if (s.lu(n, n, {factors.data(), n}, swaps)) return false;
      s.solve(n, 1, {factors.data(), n}, swaps, {to, n});
      return true;
    };
    if (!solver_.run(work, true)) return py::none();
    return x;
  }
  std::optional<std::size_t> cholesky(bool lower, py::array a) {
    const auto view = in_place(a, "a");
    const std::size_t n = rows(a);
    require_shape(a, n, n, "a");
    return solver_.run([&](LinearSolver& x) { return x.cholesky(triangle(lower), n, view); });
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
  DeviceObject<LinearSolver> solver_;
};

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
    return batched_.run(
        [&](BatchedMatrices& x) { return x.lu(count, n, batch_of(p, n, n), span); });
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

class PyDistributed {
 public:
  PyDistributed(DevicePointer device, unsigned grid_rows, std::size_t block, bool full,
                bool look_ahead)
      : grid_(std::move(device), [&](Device& d) {
          // The constructor is collective: other ranks may wait for a thread that needs the GIL.
          const py::gil_scoped_release without_gil;
          return DistributedMatrices(d, {grid_rows, block, precision(full), look_ahead});
        }) {}

  py::tuple grid() { return py::make_tuple(grid_->grid_rows(), grid_->grid_columns()); }
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
    return grid_.run([&](DistributedMatrices& g) { return g.lu(n, extra, pa, span); });
  }
  py::array_t<double> solve(std::size_t n, py::array a) {
    double* const pa = part(a, n, n + 1, "a");
    const auto x = grid_.run([&](DistributedMatrices& g) { return g.solve(n, pa); });
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

void bind_linalg(py::module_& m) {
  py::class_<PyProduct>(m, "MatrixProduct")
      .def(py::init<DevicePointer, bool>())
      .def("compute", &PyProduct::compute)
      .def("plain", &PyProduct::plain)
      .def("start", &PyProduct::start)
      .def("wait", &PyProduct::wait)
      .def("invalidate", &PyProduct::invalidate)
      .def_property_readonly("depth", &PyProduct::depth);
  py::class_<PySolver>(m, "LinearSolver")
      .def(py::init<DevicePointer, bool, std::size_t, double, bool>())
      .def("lu", &PySolver::lu)
      .def("solve", &PySolver::solve)
      .def("plain_solve", &PySolver::plain_solve)
      .def("cholesky", &PySolver::cholesky)
      .def("solve_cholesky", &PySolver::solve_cholesky)
      .def("solve_triangular", &PySolver::solve_triangular);
  py::class_<PyBatchedMatrices>(m, "BatchedMatrices")
      .def(py::init<DevicePointer, bool>())
      .def("multiply", &PyBatchedMatrices::multiply)
      .def("lu", &PyBatchedMatrices::lu)
      .def("solve", &PyBatchedMatrices::solve);
  py::class_<PyDistributed>(m, "DistributedMatrices")
      .def(py::init<DevicePointer, unsigned, std::size_t, bool, bool>())
      .def_property_readonly("grid", &PyDistributed::grid)
      .def("multiply", &PyDistributed::multiply)
      .def("lu", &PyDistributed::lu)
      .def("solve", &PyDistributed::solve)
      .def_property_readonly("times", &PyDistributed::times);
}

}  // namespace gdr::python
