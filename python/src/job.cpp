// Jobs: a kernel on a device with its data.
#include <memory>

#include "arrays.hpp"
#include "bind.hpp"
#include "gdr/error.hpp"

namespace gdr::python {
namespace {

/// Result arrays are kept until their run has ended, since the library fills them then.
class PyJob {
 public:
  PyJob(DevicePointer device, const Kernel& kernel)
      : kernel_(kernel), job_(std::move(device), [&](Device& d) { return d.job(kernel); }) {}

  void set(const std::string& name, double value) {
    job_.run([&](Job& j) { j.set(name, value); });
  }
  void sources(std::size_t n, const py::dict& arrays) {
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.sources(n, inputs.list); });
  }
  void update_sources(std::size_t first, std::size_t n, const py::dict& arrays) {
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.update_sources(first, n, inputs.list); });
  }
  void targets(std::size_t n, const py::dict& arrays) {
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.targets(n, inputs.list); });
  }
  void run(const py::dict& arrays) {
    auto results = result_arrays(arrays);
    check_sizes(results);
    settle();
    job_.run([&](Job& j) { j.run(results.list); });
  }
  void start(const py::dict& arrays) {
    auto results = result_arrays(arrays);
    check_sizes(results);
    settle();
    job_.run([&](Job& j) { j.start(results.list); });
    under_way_ = std::move(results);
  }
  bool ready() { return job_->ready(); }
  void wait() { settle(); }
  std::size_t target_count() { return job_->target_count(); }
  std::size_t source_count() { return job_->source_count(); }

 private:
  void settle() {
    // The turn of the device is free meanwhile, as the run in the background does not need it: only
    // signals are looked at.
    while (!job_->ready()) {
      {
        const py::gil_scoped_release released;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (PyErr_CheckSignals() == 0) continue;
      const py::error_already_set signal;
      stop();
      throw signal;
    }
    under_way_ = {};
    job_.run([&](Job& j) { j.wait(); });
  }

  /// Only this job: others of the device keep their places.
  void stop() {
    try {
      while (!job_->ready()) {
        job_.device().device().interrupt();
        const py::gil_scoped_release released;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      Job& job = *job_;
      const py::gil_scoped_release released;
      job.wait();
    } catch (const Error&) {  // that it was abandoned is known
    }
    under_way_ = {};
  }

  /// The library takes lengths on trust.
  void check_sizes(const NamedArrays<NamedResult>& results) {
    for (std::size_t k = 0; k < results.list.size(); ++k) {
      const std::string& name = results.names[k];
      const py::array& a = results.kept[k];
      std::size_t count = 0, elements = 0;
      for (const KernelVariable& v : kernel_.variables()) {
        const bool output = v.role == Role::Output;
        if (!output && v.role != Role::Result) continue;
        const std::size_t words = v.type == HostNumber::Raw ? v.host_bytes / 8 : 1;
        if (v.name == name) {
          elements = words;
        } else if (name.ends_with("[]") && is_element(v.name, name)) {
          elements += words;
        } else {
          continue;
        }
        count = output ? job_->source_count() : job_->target_count();
      }
      if (elements == 0) continue;  // an unknown name, which the library refuses
      if (static_cast<std::size_t>(a.size()) != count * elements)
        throw py::value_error(name + ": " + std::to_string(count * elements) +
                              " values are wanted, the array has " + std::to_string(a.size()));
      if (elements > 1 && (a.flags() & py::array::c_style) == 0)
        throw py::value_error(name + ": the array must be C-contiguous");
    }
  }

  /// Whether `variable` is an element, NAME_3, of `list`, NAME[].
  static bool is_element(const std::string& variable, const std::string& list) {
    const std::string stem = list.substr(0, list.size() - 2) + "_";
    return variable.starts_with(stem) && variable.size() > stem.size() &&
           variable.find_first_not_of("0123456789", stem.size()) == std::string::npos;
  }

  Kernel kernel_;
  NamedArrays<NamedResult> under_way_;
  Held<Job> job_;  // goes first: it fills the arrays
};

}  // namespace

void bind_job(py::module_& m) {
  py::class_<PyJob>(m, "Job")
      .def(py::init<DevicePointer, const Kernel&>())
      .def("set", &PyJob::set)
      .def("sources", &PyJob::sources)
      .def("update_sources", &PyJob::update_sources)
      .def("targets", &PyJob::targets)
      .def("run", &PyJob::run)
      .def("start", &PyJob::start)
      .def("ready", &PyJob::ready)
      .def("wait", &PyJob::wait)
      .def_property_readonly("target_count", &PyJob::target_count)
      .def_property_readonly("source_count", &PyJob::source_count);
}

}  // namespace gdr::python
