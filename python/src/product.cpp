// Products of dense matrices.
#include <array>
#include <vector>

#include "gdr/matrix.hpp"
#include "matrices.hpp"

namespace gdr::python {
namespace {

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
  void start(double alpha, const py::array& a, const py::array& b, double beta, py::array c) {
    const Factors<double> f(a, b, c);
    wait();
    pending_ = {a, b, c};
    product_.run([&](MatrixProduct& p) { p.start(f.m, f.n, f.k, alpha, f.a, f.b, beta, f.c); });
  }
  void wait() {
    if (pending_.empty()) return;
    const auto arrays = std::move(pending_);  // alive until the product has ended
    pending_.clear();
    product_.run([&](MatrixProduct& p) { p.wait(); });
  }
  void invalidate() {
    product_.run([&](MatrixProduct& p) { p.invalidate(); });
  }
  std::size_t depth() { return product_->depth(); }

 private:
  template <typename Number>
  void compute_as(Number alpha, const py::array& a, const py::array& b, Number beta, py::array& c,
                  Reuse reuse) {
    const Factors<Number> f(a, b, c);
    product_.run(
        [&](MatrixProduct& p) { p.compute(f.m, f.n, f.k, alpha, f.a, f.b, beta, f.c, reuse); });
  }

  std::vector<py::array> pending_;       // arrays of a product in the background
  DeviceObject<MatrixProduct> product_;  // destroyed before the arrays that it fills
};

}  // namespace

void bind_product(py::module_& m) {
  py::class_<PyProduct>(m, "MatrixProduct")
      .def(py::init<DevicePointer, bool>())
      .def("compute", &PyProduct::compute)
      .def("start", &PyProduct::start)
      .def("wait", &PyProduct::wait)
      .def("invalidate", &PyProduct::invalidate)
      .def_property_readonly("depth", &PyProduct::depth);
}

}  // namespace gdr::python
