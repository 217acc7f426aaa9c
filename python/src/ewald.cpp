// Ewald sums.
#include "gdr/ewald.hpp"

#include "arrays.hpp"
#include "box.hpp"

namespace gdr::python {
namespace {

class PyEwald {
 public:
  explicit PyEwald(DevicePointer device)
      : ewald_(std::move(device), [](Device& d) { return Ewald(d); }) {}

  /// Energy, virial, and how they were computed; fills force and energies.
  py::tuple run(const py::array& pos, const py::array& charge, const BoxArgument& box,
                const std::array<double, 4>& options, py::array force, py::array energies) {
    const std::size_t n = rows(charge);
    EwaldCall call;
    call.pos = {doubles(pos, 3 * n, "pos"), 3 * n};
    call.charge = {doubles(charge, n, "charge"), n};
    if (const auto given = box_of(box)) call.box = *given;
    call.options = {options[0], options[1], options[2], options[3]};
    call.force = {result_doubles(force, 3 * n, "force"), 3 * n};
    call.energy = {result_doubles(energies, n, "energies"), n};
    const EwaldResult r = ewald_.run([&](Ewald& e) { return e.run(call); });
    return py::make_tuple(r.energy, r.virial, r.alpha, r.cutoff, r.wave_cutoff, r.waves, r.error);
  }

 private:
  DeviceObject<Ewald> ewald_;
};

}  // namespace

void bind_ewald(py::module_& m) {
  py::class_<PyEwald>(m, "Ewald").def(py::init<DevicePointer>()).def("run", &PyEwald::run);
}

}  // namespace gdr::python
