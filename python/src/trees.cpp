// Sums with a tree.
#include <optional>
#include <vector>

#include "gdr/tree_sum.hpp"
#include "particle_call.hpp"

namespace gdr::python {
namespace {

class PyTreeSum {
 public:
  PyTreeSum(DevicePointer device, const Kernel& kernel, double accuracy, double theta,
            unsigned degree, std::size_t group_size, std::size_t leaf_size, std::size_t samples)
      : sum_(std::move(device), [&](Device& d) {
          return TreeSum(d, kernel,
                         {.accuracy = accuracy,
                          .degree = degree,
                          .theta = theta,
                          .group_size = group_size,
                          .leaf_size = leaf_size,
                          .samples = samples});
        }) {}

  void set(const std::string& name, double value) {
    sum_.run([&](TreeSum& s) { s.set(name, value); }, true);
  }
  /// Returns the fields of the report.
  py::dict run(const py::array& pos, const std::optional<py::array>& target_pos,
               const py::dict& sources, const py::dict& targets, const py::dict& filled) {
    const ParticleCall<TreeCall> call(pos, target_pos, sources, targets, filled);
    return fields_of(sum_.run([&](TreeSum& s) { return s.run(*call); }));
  }
  std::vector<std::string> charges() { return sum_->charges(); }

 private:
  static py::dict fields_of(const TreeSumReport& r) {
    using py::operator""_a;
    py::dict errors;
    for (const ResultError& e : r.results) errors[py::str(e.name)] = e.error;
    return py::dict("degree"_a = r.degree, "theta"_a = r.theta, "error"_a = r.error,
                    "largest_error"_a = r.largest_error, "errors"_a = errors, "reason"_a = r.reason,
                    "samples"_a = r.samples, "clusters"_a = r.clusters, "groups"_a = r.groups,
                    "sources_per_target"_a = r.sources_per_target,
                    "build_seconds"_a = r.build_seconds, "choice_seconds"_a = r.choice_seconds,
                    "list_seconds"_a = r.list_seconds, "sum_seconds"_a = r.sum_seconds,
                    "error_seconds"_a = r.error_seconds);
  }

  DeviceObject<TreeSum> sum_;
};

}  // namespace

void bind_trees(py::module_& m) {
  py::class_<PyTreeSum>(m, "TreeSum")
      .def(py::init<DevicePointer, const Kernel&, double, double, unsigned, std::size_t,
                    std::size_t, std::size_t>())
      .def("set", &PyTreeSum::set)
      .def("run", &PyTreeSum::run)
      .def("charges", &PyTreeSum::charges);
}

}  // namespace gdr::python
