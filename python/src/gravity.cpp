// Gravity on arrays of three-vectors.
#include "gdr/gravity.hpp"

#include "arrays.hpp"
#include "bind.hpp"

namespace gdr::python {
namespace {

class PyGravity {
 public:
  explicit PyGravity(DevicePointer device)
      : gravity_(std::move(device), [](Device& d) { return Gravity(d); }) {}

  /// Forces of n particles on each other.
  void compute(const py::array& position, const py::array& mass, double eps, py::array acceleration,
               py::array potential) {
    const auto n = static_cast<std::size_t>(mass.size());
    const double* const x = doubles(position, 3 * n, "pos");
    const double* const m = doubles(mass, n, "mass");
    double* const a = result_doubles(acceleration, 3 * n, "acc");
    double* const p = result_doubles(potential, n, "pot");
    gravity_.run([&](Gravity& g) { g.compute(n, x, m, eps, a, p); });
  }
  void compute_on(const py::array& target, const py::array& position, const py::array& mass,
                  double eps, py::array acceleration, py::array potential) {
    const auto n = static_cast<std::size_t>(mass.size());
    const auto target_count = static_cast<std::size_t>(target.size()) / 3;
    const double* const t = doubles(target, 3 * target_count, "targets");
    const double* const x = doubles(position, 3 * n, "pos");
    const double* const m = doubles(mass, n, "mass");
    double* const a = result_doubles(acceleration, 3 * target_count, "acc");
    double* const p = result_doubles(potential, target_count, "pot");
    gravity_.run([&](Gravity& g) { g.compute_on(target_count, t, n, x, m, eps, a, p); });
  }

 private:
  DeviceObject<Gravity> gravity_;
};

}  // namespace

void bind_gravity(py::module_& m) {
  py::class_<PyGravity>(m, "Gravity")
      .def(py::init<DevicePointer>())
      .def("compute", &PyGravity::compute)
      .def("compute_on", &PyGravity::compute_on);
}

}  // namespace gdr::python
