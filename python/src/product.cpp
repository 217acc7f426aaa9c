// Products of dense matrices.
#include <array>
#include <vector>

#include "gdr/matrix.hpp"
#include "matrices.hpp"

namespace gdr::python {
namespace {

/// By Unchanged.
constexpr std::array unchanged_names{"", "b", "a", "both"};

Unchanged unchanged_by_name(const std::string& name) {
  for (std::size_t k = 0; k < unchanged_names.size(); ++k)
    if (unchanged_names[k] == name) return static_cast<Unchanged>(k);
  throw py::value_error("unchanged: a, b and both are known, not " + name);
}

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

  /// All float64 or all float32.
  void compute(double alpha, const py::array& a, const py::array& b, double beta, py::array c,
               const std::string& unchanged) {
    const Unchanged same = unchanged_by_name(unchanged);
    wait();
    if (py::isinstance<py::array_t<float>>(c))
      compute_as<float>(static_cast<float>(alpha), a, b, static_cast<float>(beta), c, same);
    else
      compute_as<double>(alpha, a, b, beta, c, same);
  }
  void start(double alpha, const py::array& a, const py::array& b, double beta, py::array c) {
    const Factors<double> f(a, b, c);
    wait();
    under_way_ = {a, b, c};
    product_.run([&](MatrixProduct& p) { p.start(f.m, f.n, f.k, alpha, f.a, f.b, beta, f.c); });
  }
  /// The device's turn is taken: it is asked to stop when a signal comes.
  void wait() {
    if (under_way_.empty()) return;
    const auto kept = std::move(under_way_);
    under_way_.clear();
    product_.run([&](MatrixProduct& p) { p.wait(); });
  }
  void forget() {
    product_.run([&](MatrixProduct& p) { p.forget(); });
  }
  std::size_t depth() { return product_->depth(); }

 private:
  template <typename Number>
  void compute_as(Number alpha, const py::array& a, const py::array& b, Number beta, py::array& c,
                  Unchanged unchanged) {
    const Factors<Number> f(a, b, c);
    product_.run(
        [&](MatrixProduct& p) { p.compute(f.m, f.n, f.k, alpha, f.a, f.b, beta, f.c, unchanged); });
  }

  std::vector<py::array> under_way_;
  Held<MatrixProduct> product_;  // goes first: it fills the arrays
};

}  // namespace

void bind_product(py::module_& m) {
  py::class_<PyProduct>(m, "MatrixProduct")
      .def(py::init<DevicePointer, bool>())
      .def("compute", &PyProduct::compute)
      .def("start", &PyProduct::start)
      .def("wait", &PyProduct::wait)
      .def("forget", &PyProduct::forget)
      .def_property_readonly("depth", &PyProduct::depth);
}

}  // namespace gdr::python
