// The Hermite integrator.
#include "gdr/hermite.hpp"

#include "arrays.hpp"

namespace gdr::python {
namespace {

/// The arrays of a state, in the order in which Python passes them, with numbers for each particle.
struct StateArray {
  const char* name;
  std::size_t width;
  std::vector<double> HermiteState::*values;
};
constexpr StateArray state_arrays[] = {
    {"times", 1, &HermiteState::time},       {"steps", 1, &HermiteState::step},
    {"pos", 3, &HermiteState::position},     {"vel", 3, &HermiteState::velocity},
    {"acc", 3, &HermiteState::acceleration}, {"jerk", 3, &HermiteState::jerk}};

/// Degree and theta of the trees of blocks.
using TreeChoice = std::pair<unsigned, double>;

HermiteState state_of(std::int64_t cycle, double now, const std::vector<py::array>& arrays,
                      const TreeChoice& tree, std::size_t n) {
  if (arrays.size() != std::size(state_arrays)) throw py::value_error("a state has six arrays");
  HermiteState state;
  state.cycle = cycle;
  state.now = now;
  state.tree_degree = tree.first;
  state.tree_theta = tree.second;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const StateArray& each = state_arrays[k];
    const double* const values = doubles(arrays[k], each.width * n, each.name);
    (state.*each.values).assign(values, values + each.width * n);
  }
  return state;
}

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
  /// Continues from a state.
  PyHermite(const DevicePointer& device, std::int64_t cycle, double now,
            const std::vector<py::array>& arrays, const TreeChoice& tree, const py::array& mass,
            const HermiteOptions& options)
      : hermite_(device, [&](Device&) {
          const auto n = static_cast<std::size_t>(mass.size());
          const HermiteState state = state_of(cycle, now, arrays, tree, n);
          const double* const m = doubles(mass, n, "mass");
          return device->run([&](Device& d) { return Hermite(d, state, m, options); });
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
  /// The state: cycles, the part of the present one, the arrays, and the choice of trees.
  py::tuple state() {
    const HermiteState state = hermite_->state();
    py::list arrays;
    for (const StateArray& each : state_arrays) {
      const auto n = static_cast<py::ssize_t>(state.size());
      const double* const values = (state.*each.values).data();
      if (each.width == 1)
        arrays.append(py::array_t<double>(n, values));
      else
        arrays.append(py::array_t<double>({n, static_cast<py::ssize_t>(each.width)}, values));
    }
    return py::make_tuple(state.cycle, state.now, arrays,
                          TreeChoice{state.tree_degree, state.tree_theta});
  }
  py::tuple statistics() {
    const HermiteStatistics s = hermite_->statistics();
    return py::make_tuple(s.block_steps, s.particle_steps, s.limited_steps, s.smallest_step,
                          s.largest_step, s.tree_steps, s.tree_error, s.tree_jerk_error);
  }

 private:
  DeviceObject<Hermite> hermite_;
};

HermiteOptions options_of(double eps, double eta, double eta_start, double largest_step,
                          double smallest_step, double accuracy) {
  HermiteOptions options;
  options.eps = eps;
  options.eta = eta;
  options.eta_start = eta_start;
  options.largest_step = largest_step;
  options.smallest_step = smallest_step;
  options.accuracy = accuracy;
  return options;
}

std::unique_ptr<PyHermite> create(const DevicePointer& device, const py::array& position,
                                  const py::array& velocity, const py::array& mass, double eps,
                                  double eta, double eta_start, double largest_step,
                                  double smallest_step, double accuracy) {
  return std::make_unique<PyHermite>(
      device, position, velocity, mass,
      options_of(eps, eta, eta_start, largest_step, smallest_step, accuracy));
}

std::unique_ptr<PyHermite> resume(const DevicePointer& device, std::int64_t cycle, double now,
                                  const std::vector<py::array>& arrays, const TreeChoice& tree,
                                  const py::array& mass, double eps, double eta, double eta_start,
                                  double largest_step, double smallest_step, double accuracy) {
  return std::make_unique<PyHermite>(
      device, cycle, now, arrays, tree, mass,
      options_of(eps, eta, eta_start, largest_step, smallest_step, accuracy));
}

}  // namespace

void bind_hermite(py::module_& m) {
  py::class_<PyHermite>(m, "Hermite")
      .def(py::init(&create))
      .def_static("resume", &resume)
      .def("state", &PyHermite::state)
      .def("advance", &PyHermite::advance)
      .def("read", &PyHermite::read)
      .def("statistics", &PyHermite::statistics);
}

}  // namespace gdr::python
