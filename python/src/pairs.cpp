// Sums within a cut-off.
#include "gdr/pairs.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "box.hpp"
#include "particle_call.hpp"

namespace gdr::python {
namespace {

PairOptions options_of(const py::array& cutoff, const BoxArgument& box,
                       std::optional<double> skin) {
  const auto radii = all_doubles(cutoff, "cutoff");
  return {.cutoff = {radii.begin(), radii.end()}, .box = box_of(box), .skin = skin};
}

class PyPairSum {
 public:
  PyPairSum(DevicePointer device, const Kernel& kernel, const py::array& cutoff,
            const BoxArgument& box, std::optional<double> skin)
      : sum_(std::move(device),
             [&](Device& d) { return PairSum(d, kernel, options_of(cutoff, box, skin)); }) {}

  void set(const std::string& name, double value) {
    sum_.run([&](PairSum& s) { s.set(name, value); }, true);
  }
  void set_cutoff(const py::array& cutoff) {
    sum_.run([&, radii = all_doubles(cutoff, "cutoff")](PairSum& s) { s.set_cutoff(radii); }, true);
  }
  void set_box(const BoxArgument& box) {
    sum_.run([&, made = box_of(box)](PairSum& s) { s.set_box(made); }, true);
  }
  void run(const py::array& pos, const std::optional<py::array>& target_pos,
           const py::dict& sources, const py::dict& targets, const py::dict& filled) {
    const ParticleCall<PairCall> call(pos, target_pos, sources, targets, filled);
    sum_.run([&](PairSum& s) { s.run(*call); });
  }
  py::tuple statistics() {
    const PairStatistics s = sum_->statistics();
    return py::make_tuple(s.runs, s.lists_made, s.groups, s.sources, s.pairs, s.list_seconds,
                          s.skin);
  }

 private:
  DeviceObject<PairSum> sum_;
};

}  // namespace

void bind_pairs(py::module_& m) {
  py::class_<PyPairSum>(m, "PairSum")
      .def(py::init<DevicePointer, const Kernel&, const py::array&, const BoxArgument&,
                    std::optional<double>>())
      .def("set", &PyPairSum::set)
      .def("set_cutoff", &PyPairSum::set_cutoff)
      .def("set_box", &PyPairSum::set_box)
      .def("run", &PyPairSum::run)
      .def("statistics", &PyPairSum::statistics);
}

}  // namespace gdr::python
