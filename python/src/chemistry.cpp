// Quantum chemistry: Coulomb matrices, potentials and integrals.
#include "gdr/chemistry.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"

namespace gdr::python {
namespace {

/// centre, angular momentum, spherical, exponents, coefficients.
using ShellTuple =
    std::tuple<std::array<double, 3>, unsigned, bool, std::vector<double>, std::vector<double>>;

std::vector<chemistry::Shell> shells_of(const std::vector<ShellTuple>& tuples) {
  std::vector<chemistry::Shell> shells;
  for (const auto& [centre, l, spherical, exponents, coefficients] : tuples)
    shells.push_back({centre, l, spherical, exponents, coefficients});
  return shells;
}

class PyCoulomb {
 public:
  PyCoulomb(DevicePointer device, const std::vector<ShellTuple>& shells, double threshold,
            double omega)
      : shells_(shells_of(shells)), coulomb_(std::move(device), [&](Device& d) {
          return chemistry::Coulomb(d, shells_, {.threshold = threshold, .omega = omega});
        }) {}

  std::size_t functions() { return coulomb_->functions(); }

  void matrix(const py::array& density, py::array out) {
    const double* const d = square(density, "density");
    double* const j = result_doubles(out, functions() * functions(), "out");
    coulomb_.run([&](chemistry::Coulomb& c) { c.matrix(d, j); });
  }
  void potential(const py::array& density, const py::array& points, py::array out) {
    const double* const d = square(density, "density");
    const std::size_t n = rows(points);
    const double* const x = doubles(points, 3 * n, "points");
    double* const v = result_doubles(out, n, "out");
    coulomb_.run([&](chemistry::Coulomb& c) { c.potential(d, n, x, v); });
  }
  void nuclear_attraction(const py::array& positions, const py::array& charges, py::array out) {
    const std::size_t n = rows(positions);
    const double* const x = doubles(positions, 3 * n, "positions");
    const double* const z = doubles(charges, n, "charges");
    double* const v = result_doubles(out, functions() * functions(), "out");
    coulomb_.run([&](chemistry::Coulomb& c) { c.nuclear_attraction(n, x, z, v); });
  }
  void integrals(std::size_t c_shell, std::size_t d_shell, py::array out) {
    if (c_shell >= shells_.size() || d_shell >= shells_.size())
      throw py::index_error("there is no such shell");
    const std::span all(shells_);
    const std::size_t products = chemistry::function_count(all.subspan(c_shell, 1)) *
                                 chemistry::function_count(all.subspan(d_shell, 1));
    double* const v = result_doubles(out, products * functions() * functions(), "out");
    coulomb_.run([&](chemistry::Coulomb& c) { c.integrals(c_shell, d_shell, v); });
  }
  std::tuple<std::size_t, std::size_t, std::size_t, double, double> work() {
    const chemistry::CoulombWork& w = coulomb_->work();
    return {w.pairs, w.interactions, w.short_interactions, w.seconds_on_device, w.seconds};
  }

 private:
  const double* square(const py::array& array, const char* name) {
    return doubles(array, functions() * functions(), name);
  }

  std::vector<chemistry::Shell> shells_;
  DeviceObject<chemistry::Coulomb> coulomb_;
};

}  // namespace

void bind_chemistry(py::module_& m) {
  m.def("coulomb_kernel", &chemistry::kernel_text);
  py::class_<PyCoulomb>(m, "Coulomb")
      .def(py::init<DevicePointer, const std::vector<ShellTuple>&, double, double>())
      .def_property_readonly("functions", &PyCoulomb::functions)
      .def_property_readonly("work", &PyCoulomb::work)
      .def("matrix", &PyCoulomb::matrix)
      .def("potential", &PyCoulomb::potential)
      .def("nuclear_attraction", &PyCoulomb::nuclear_attraction)
      .def("integrals", &PyCoulomb::integrals);
}

}  // namespace gdr::python
