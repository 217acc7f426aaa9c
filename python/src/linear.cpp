// Products, factorisations and solves of dense matrices.
#include "gdr/linear.hpp"

#include "arrays.hpp"
#include "bind.hpp"
#include "gdr/batch.hpp"

namespace gdr::python {
namespace {

[[noreturn]] void wrong_shape(const char* name, const std::string& what) {
  throw py::value_error(std::string(name) + ": " + what);
}

std::size_t rows(const py::array& a) { return static_cast<std::size_t>(a.shape(0)); }
std::size_t columns(const py::array& a) { return static_cast<std::size_t>(a.shape(1)); }

void require_shape(const py::array& a, std::size_t r, std::size_t c, const char* name) {
  if (a.ndim() != 2 || rows(a) != r || columns(a) != c)
    wrong_shape(name, "shape (" + std::to_string(r) + ", " + std::to_string(c) + ") is wanted");
}

MatrixPrecision precision(bool full) {
  return full ? MatrixPrecision::Full : MatrixPrecision::Chip;
}

std::span<std::int64_t> pivot_span(py::array_t<std::int64_t>& pivots, std::size_t n) {
  if (static_cast<std::size_t>(pivots.size()) != n)
    wrong_shape("pivots", std::to_string(n) + " are wanted");
  return {pivots.mutable_data(), n};
}

class PyProduct {
 public:
  PyProduct(DevicePointer device, bool full)
      : device_(std::move(device)), product_(device_->device(), precision(full)) {}

  /// c = alpha a b + beta c; all float64 or all float32.
  void compute(double alpha, const py::array& a, const py::array& b, double beta, py::array c,
               bool unchanged_b) {
    if (py::isinstance<py::array_t<float>>(c))
      compute_as<float>(static_cast<float>(alpha), a, b, static_cast<float>(beta), c, unchanged_b);
    else
      compute_as<double>(alpha, a, b, beta, c, unchanged_b);
  }
  std::size_t depth() const noexcept { return product_.depth(); }

 private:
  template <typename Number>
  void compute_as(Number alpha, const py::array& a, const py::array& b, Number beta, py::array& c,
                  bool unchanged_b) {
    const auto va = matrix_view<Number>(a, "a");
    const auto vb = matrix_view<Number>(b, "b");
    const auto vc = result_view<Number>(c, "out");
    const std::size_t m = rows(a), k = columns(a), n = columns(b);
    require_shape(b, k, n, "b");
    require_shape(c, m, n, "out");
    const Unchanged unchanged = unchanged_b ? Unchanged::B : Unchanged::Nothing;
    device_->run([&](Device&) { product_.compute(m, n, k, alpha, va, vb, beta, vc, unchanged); });
  }

  DevicePointer device_;
  MatrixProduct product_;
};

/// Matrices that are worked on in place must be Fortran-contiguous: LAPACK's layout.
MatrixView<double> in_place(py::array& a, const char* name) {
  if (a.ndim() != 2 || (a.flags() & py::array::f_style) == 0)
    wrong_shape(name, "a Fortran-contiguous matrix is wanted");
  MatrixView<double> view = result_view<double>(a, name);
  return {view.data, std::max(rows(a), std::size_t{1}), Transpose::No};
}

Triangle triangle(bool lower) { return lower ? Triangle::Lower : Triangle::Upper; }

class PySolver {
 public:
  PySolver(DevicePointer device, bool full, std::size_t block)
      : device_(std::move(device)), solver_(device_->device(), options(full, block)) {}

  std::optional<std::size_t> lu(py::array a, py::array_t<std::int64_t> pivots) {
    const auto view = in_place(a, "a");
    const std::size_t m = rows(a), n = columns(a);
    const auto span = pivot_span(pivots, std::min(m, n));
    std::optional<std::size_t> singular;
    device_->run([&](Device&) { singular = solver_.lu(m, n, view, span); });
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
    device_->run([&](Device&) { solver_.solve(n, columns(b), factors, span, view); });
  }
  std::optional<std::size_t> cholesky(bool lower, py::array a) {
    const auto view = in_place(a, "a");
    const std::size_t n = rows(a);
    require_shape(a, n, n, "a");
    std::optional<std::size_t> bad;
    device_->run([&](Device&) { bad = solver_.cholesky(triangle(lower), n, view); });
    return bad;
  }
  void solve_cholesky(bool lower, py::array factor, py::array b) {
    const std::size_t n = rows(factor);
    require_shape(factor, n, n, "factor");
    require_shape(b, n, columns(b), "b");
    const auto f = in_place(factor, "factor");
    const auto view = in_place(b, "b");
    device_->run([&](Device&) {
      solver_.solve_cholesky(triangle(lower), n, columns(b), {f.data, f.stride}, view);
    });
  }
  void solve_triangular(bool lower, bool unit, bool transposed, py::array a, py::array b) {
    const std::size_t n = rows(a);
    require_shape(a, n, n, "a");
    require_shape(b, n, columns(b), "b");
    auto view_a = in_place(a, "a");
    const auto view = in_place(b, "b");
    const Transpose op = transposed ? Transpose::Yes : Transpose::No;
    device_->run([&](Device&) {
      solver_.solve_triangular(Side::Left, triangle(lower),
                               unit ? Diagonal::Unit : Diagonal::Stored, n, columns(b), 1.0,
                               {view_a.data, view_a.stride, op}, view);
    });
  }

 private:
  static LinearOptions options(bool full, std::size_t block) {
    LinearOptions o;
    o.precision = precision(full);
    o.block = block;
    return o;
  }

  DevicePointer device_;
  LinearSolver solver_;
};

/// Stacks (count, rows, columns), C-contiguous: NumPy's matrices are by rows, the library's by
/// columns, so every matrix arrives transposed.
template <typename Number>
MatrixBatch<Number> stack(Number* data, std::size_t r, std::size_t c) {
  return {data, std::max(r, std::size_t{1}), r * c};
}

class PySmall {
 public:
  explicit PySmall(DevicePointer device) : device_(std::move(device)), small_(device_->device()) {}

  /// c = a b of each: c^T = b^T a^T.
  void multiply(const py::array& a, const py::array& b, py::array c) {
    const std::size_t count = dimension(a, 0), m = dimension(a, 1), k = dimension(a, 2);
    const std::size_t n = dimension(b, 2);
    const double* const pa = doubles(a, count * m * k, "a");
    const double* const pb = doubles(b, count * k * n, "b");
    double* const pc = result_doubles(c, count * m * n, "out");
    device_->run([&](Device&) {
      small_.multiply(count, n, m, k, stack(pb, n, k), stack(pa, k, m), stack(pc, n, m));
    });
  }
  /// In place; the matrices hold their transposes.
  std::size_t lu(py::array transposed, py::array_t<std::int64_t> pivots) {
    const std::size_t count = dimension(transposed, 0), n = dimension(transposed, 1);
    double* const p = result_doubles(transposed, count * n * n, "a");
    const auto span = pivot_span(pivots, count * n);
    std::size_t singular = 0;
    device_->run([&](Device&) { singular = small_.lu(count, n, stack(p, n, n), span); });
    return singular;
  }
  /// b (count, columns, n), in place: the right sides by rows.
  void solve(const py::array& transposed, py::array_t<std::int64_t> pivots, py::array b) {
    const std::size_t count = dimension(transposed, 0), n = dimension(transposed, 1);
    const std::size_t sides = dimension(b, 1);
    const double* const p = doubles(transposed, count * n * n, "lu");
    double* const pb = result_doubles(b, count * sides * n, "b");
    const auto span = pivot_span(pivots, count * n);
    device_->run(
        [&](Device&) { small_.solve(count, n, sides, stack(p, n, n), span, stack(pb, n, sides)); });
  }

 private:
  static std::size_t dimension(const py::array& a, py::ssize_t k) {
    if (a.ndim() != 3) throw py::value_error("a stack of matrices has three dimensions");
    return static_cast<std::size_t>(a.shape(k));
  }

  DevicePointer device_;
  SmallMatrices small_;
};

}  // namespace

void bind_linear(py::module_& m) {
  py::class_<PyProduct>(m, "MatrixProduct")
      .def(py::init<DevicePointer, bool>())
      .def("compute", &PyProduct::compute)
      .def_property_readonly("depth", &PyProduct::depth);
  py::class_<PySolver>(m, "LinearSolver")
      .def(py::init<DevicePointer, bool, std::size_t>())
      .def("lu", &PySolver::lu)
      .def("solve", &PySolver::solve)
      .def("cholesky", &PySolver::cholesky)
      .def("solve_cholesky", &PySolver::solve_cholesky)
      .def("solve_triangular", &PySolver::solve_triangular);
  py::class_<PySmall>(m, "SmallMatrices")
      .def(py::init<DevicePointer>())
      .def("multiply", &PySmall::multiply)
      .def("lu", &PySmall::lu)
      .def("solve", &PySmall::solve);
}

}  // namespace gdr::python
