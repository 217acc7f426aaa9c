// Devices, their ranks and their statistics.
#include "gdr/device.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "bind.hpp"
#include "gdr/timeline.hpp"
#include "gdr/version.hpp"
#include "ranks.hpp"

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

py::list rank_reports(DeviceHandle& handle) {
  std::vector<RankReport> reports;
  handle.run([&](Device& d) { reports = d.rank_reports(); });
  py::list list;
  for (const RankReport& r : reports)
    list.append(py::make_tuple(r.rank, r.host, r.boards, r.threads, r.pairs, r.bytes_to_board,
                               r.bytes_from_board, r.bytes_received, r.sources_bytes, r.seconds,
                               r.waiting_seconds));
  return list;
}

std::vector<double> gather_numbers(DeviceHandle& handle, double mine) {
  std::vector<double> all;
  handle.run([&](Device& d) { all = gather(d, mine); });
  return all;
}

void agree(DeviceHandle& handle, const std::optional<std::string>& wrong, bool type) {
  handle.run([&](Device& d) { agree_on_arguments(d, wrong, type); });
}

/// The folder that libgdr lies in; its part for MPI lies beside it.
std::string library_folder() {
  Dl_info info{};
  const auto* const symbol = reinterpret_cast<const void*>(&gdr::version);
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path().string();
}

}  // namespace

void bind_device(py::module_& m) {
  py::class_<DeviceHandle, DevicePointer>(m, "Device")
      .def(py::init([](const std::string& name, std::optional<std::int32_t> communicator) {
        const py::gil_scoped_release released;
        return std::make_shared<DeviceHandle>(name, communicator);
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
      .def("timeline", &timeline)
      .def_property_readonly("rank", [](DeviceHandle& h) { return h.device().rank(); })
      .def_property_readonly("ranks", [](DeviceHandle& h) { return h.device().ranks(); })
      .def("rank_reports", &rank_reports)
      .def("gather", &gather_numbers)
      .def("agree", &agree);
  m.def("library_folder", &library_folder);
}

}  // namespace gdr::python
