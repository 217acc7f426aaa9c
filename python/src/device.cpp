// Devices and their statistics.
#include "gdr/device.hpp"

#include "bind.hpp"
#include "gdr/timeline.hpp"

namespace gdr::python {
namespace {

py::dict statistics(DeviceHandle& handle) {
  const Statistics s = handle.device().statistics();
  py::dict d;
  d["runs"] = s.runs;
  d["interactions"] = s.interactions;
  d["flops"] = s.flops;
  d["compute_clocks"] = s.compute_clocks;
  d["chip_clocks"] = s.chip_clocks;
  d["bytes_to_board"] = s.bytes_to_board;
  d["bytes_from_board"] = s.bytes_from_board;
  d["predicted_seconds"] = s.predicted_seconds;
  d["host_seconds"] = s.host_seconds;
  d["engine"] = s.engine;
  d["isa"] = s.isa;
  d["threads"] = s.threads;
  d["fast_runs"] = s.fast_runs;
  d["slow_runs"] = s.slow_runs;
  d["slow_reason"] = s.slow_reason;
  d["compile_seconds"] = s.compile_seconds;
  return d;
}

py::list timeline(DeviceHandle& handle) {
  std::vector<TimelineEvent> events;
  handle.run([&](Device& d) { events = d.timeline(); });
  py::list list;
  for (const TimelineEvent& e : events)
    list.append(py::make_tuple(e.board, e.part, e.what, e.begin, e.end));
  return list;
}

}  // namespace

void bind_device(py::module_& m) {
  py::class_<DeviceHandle, DevicePointer>(m, "Device")
      .def(py::init([](const std::string& name) {
        const py::gil_scoped_release released;
        return std::make_shared<DeviceHandle>(name);
      }))
      .def("close", &DeviceHandle::close)
      .def_property_readonly("closed", &DeviceHandle::closed)
      .def("description", [](DeviceHandle& h) { return h.device().description(); })
      .def("target_slots",
           [](DeviceHandle& h, const Kernel& k) { return h.device().target_slots(k); })
      .def("statistics", &statistics)
      .def("reset_statistics", [](DeviceHandle& h) { h.device().reset_statistics(); })
      .def("record_timeline",
           [](DeviceHandle& h, bool on) { h.run([on](Device& d) { d.record_timeline(on); }); })
      .def("timeline", &timeline);
}

}  // namespace gdr::python
