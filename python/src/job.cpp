// Jobs: a kernel on a device with its data.
#include <memory>

#include "arrays.hpp"
#include "bind.hpp"
#include "gdr/error.hpp"

namespace gdr::python {
namespace {

/// Keeps the result arrays of a background run alive until the run has ended.
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
    finish();
    job_.run([&](Job& j) { j.run(results.list); });
  }
  void start(const py::dict& arrays) {
    auto results = result_arrays(arrays);
    check_sizes(results);
    finish();
    job_.run([&](Job& j) { j.start(results.list); });
    pending_ = std::move(results);
  }
  bool ready() { return job_->ready(); }
  void wait() { finish(); }
  std::size_t target_count() { return job_->target_count(); }
  std::size_t source_count() { return job_->source_count(); }

 private:
  /// Waits for the background run and handles signals. The device stays available to other threads.
  void finish() {
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
    pending_ = {};
    job_.run([&](Job& j) { j.wait(); });
  }

  /// Interrupts this job only; queued work of other jobs is kept.
  void stop() {
    try {
      while (!job_->ready()) {
        job_.device().device().interrupt();
        const py::gil_scoped_release released;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      job_->wait();
    } catch (const Error&) {  // the error of the interrupted run
    }
    pending_ = {};
  }

  /// The library does not check the lengths of result arrays.
  void check_sizes(const NamedArrays<NamedResult>& results) {
    for (std::size_t k = 0; k < results.list.size(); ++k) {
      const std::string& name = results.names[k];
      const py::array& a = results.arrays[k];
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
      if (elements == 0) continue;  // an unknown name, which the library rejects
      if (static_cast<std::size_t>(a.size()) != count * elements)
        throw py::value_error(name + ": expected " + std::to_string(count * elements) +
                              " values, got " + std::to_string(a.size()));
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
  NamedArrays<NamedResult> pending_;
  DeviceObject<Job> job_;  // destroyed before the arrays that it fills
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
