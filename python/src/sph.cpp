// Smoothed particle hydrodynamics.
#include "gdr/sph.hpp"

#include "arrays.hpp"
#include "box.hpp"

namespace gdr::python {
namespace {

std::span<const double> values(const py::array& array, const char* name) {
  const auto n = static_cast<std::size_t>(array.size());
  return {doubles(array, n, name), n};
}

std::span<double> result_values(py::array& array, const char* name) {
  const auto n = static_cast<std::size_t>(array.size());
  return {result_doubles(array, n, name), n};
}

class PySph {
 public:
  explicit PySph(DevicePointer device)
      : sph_(std::move(device), [](Device& d) { return Sph(d); }) {}

  void density(const py::array& pos, const py::array& mass, const py::array& h,
               const BoxArgument& box, py::array rho, py::array_t<std::int64_t>& near) {
    const SphParticles p{values(pos, "pos"), values(mass, "mass"), values(h, "h")};
    const auto to = result_values(rho, "rho");
    run(box, [&, numbers = counts(near)](Sph& s) { s.density(p, to, numbers); });
  }

  /// The number of iterations; fills h, from `start` or an estimate, rho and near.
  unsigned smoothing_lengths(const py::array& pos, const py::array& mass,
                             const std::optional<py::array>& start, const BoxArgument& box,
                             const std::array<double, 4>& options, unsigned iterations, py::array h,
                             py::array rho, py::array_t<std::int64_t>& near) {
    SphParticles p{values(pos, "pos"), values(mass, "mass"), {}};
    if (start) p.h = values(*start, "h");
    const auto lengths = result_values(h, "h"), densities = result_values(rho, "rho");
    const SphLengthOptions o{options[0], options[1], options[2], options[3], iterations};
    unsigned done = 0;
    run(box, [&, numbers = counts(near)](Sph& s) {
      done = s.smoothing_lengths(p, o, lengths, densities, numbers);
    });
    return done;
  }

  void forces(const std::array<py::array, 7>& particles, const std::array<double, 3>& viscosity,
              const BoxArgument& box, py::array acc, py::array dudt, py::array mumax) {
    const auto& [pos, vel, mass, h, rho, pressure, sound] = particles;
    const SphParticles p{values(pos, "pos"), values(mass, "mass"), values(h, "h")};
    const SphGas gas{values(vel, "vel"),
                     values(rho, "rho"),
                     values(pressure, "pressure"),
                     values(sound, "sound"),
                     viscosity[0],
                     viscosity[1],
                     viscosity[2]};
    const SphForces to{result_values(acc, "acc"), result_values(dudt, "dudt"),
                       result_values(mumax, "mumax")};
    run(box, [&](Sph& s) { s.forces(p, gas, to); });
  }

 private:
  static std::span<std::int64_t> counts(py::array_t<std::int64_t>& near) {
    return {near.mutable_data(), static_cast<std::size_t>(near.size())};
  }

  template <typename Work>
  void run(const BoxArgument& box, const Work& work) {
    sph_.run([&, edges = box_of(box)](Sph& s) {
      s.set_box(edges);
      work(s);
    });
  }

  DeviceObject<Sph> sph_;
};

}  // namespace

void bind_sph(py::module_& m) {
  py::class_<PySph>(m, "Sph")
      .def(py::init<DevicePointer>())
      .def("density", &PySph::density)
      .def("smoothing_lengths", &PySph::smoothing_lengths)
      .def("forces", &PySph::forces);
}

}  // namespace gdr::python
