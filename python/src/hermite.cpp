// The Hermite integrator.
#include "gdr/hermite.hpp"

#include "arrays.hpp"

namespace gdr::python {
namespace {

class PyHermite {
 public:
  PyHermite(const DevicePointer& device, const py::array& position, const py::array& velocity,
            const py::array& mass, const HermiteOptions& options)
      : hermite_(device, [&](Device&) {
          const auto n = static_cast<std::size_t>(mass.size());
          const double* const x = doubles(position, 3 * n, "pos");
          const double* const v = doubles(velocity, 3 * n, "vel");
          const double* const m = doubles(mass, n, "mass");
          // The first forces are computed without the GIL.
          return device->run([&](Device& d) { return Hermite(d, n, x, v, m, options); });
        }) {}

  /// Integrates to the end of the cycle.
  void advance() {
    hermite_.run([](Hermite& h) { h.advance(); });
  }
  /// Fills arrays with positions, velocities, accelerations and potentials.
  void read(py::array position, py::array velocity, py::array acceleration, py::array potential) {
    const std::size_t n = hermite_->size();
    double* const x = result_doubles(position, 3 * n, "pos");
    double* const v = result_doubles(velocity, 3 * n, "vel");
    double* const a = result_doubles(acceleration, 3 * n, "acc");
    double* const p = result_doubles(potential, n, "pot");
    hermite_.run([&](Hermite& h) {
      h.predict(x, v);
      h.forces(a, p);
    });
  }
  py::tuple statistics() {
    const HermiteStatistics s = hermite_->statistics();
    return py::make_tuple(s.block_steps, s.particle_steps, s.limited_steps, s.smallest_step,
                          s.largest_step);
  }

 private:
  DeviceObject<Hermite> hermite_;
};

std::unique_ptr<PyHermite> create(const DevicePointer& device, const py::array& position,
                                  const py::array& velocity, const py::array& mass, double eps,
                                  double eta, double eta_start, double largest_step,
                                  double smallest_step) {
  HermiteOptions options;
  options.eps = eps;
  options.eta = eta;
  options.eta_start = eta_start;
  options.largest_step = largest_step;
  options.smallest_step = smallest_step;
  return std::make_unique<PyHermite>(device, position, velocity, mass, options);
}

}  // namespace

void bind_hermite(py::module_& m) {
  py::class_<PyHermite>(m, "Hermite")
      .def(py::init(&create))
      .def("advance", &PyHermite::advance)
      .def("read", &PyHermite::read)
      .def("statistics", &PyHermite::statistics);
}

}  // namespace gdr::python
