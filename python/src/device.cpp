// Devices: lifetime, statistics, timeline, ranks and board tests.
#include "gdr/device.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <optional>

#include "bind.hpp"
#include "gdr/error.hpp"
#include "gdr/estimate.hpp"
#include "gdr/version.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr::python {
namespace {

py::dict statistics(DeviceHandle& handle) {
  using namespace py::literals;
  const Statistics s = handle.device().statistics();
  return py::dict("runs"_a = s.runs, "interactions"_a = s.interactions, "flops"_a = s.flops,
                  "compute_clocks"_a = s.compute_clocks, "chip_clocks"_a = s.chip_clocks,
                  "bytes_to_board"_a = s.bytes_to_board, "bytes_from_board"_a = s.bytes_from_board,
                  "predicted_seconds"_a = s.predicted_seconds, "host_seconds"_a = s.host_seconds,
                  "engine"_a = s.engine, "isa"_a = s.isa, "threads"_a = s.threads,
                  "fast_runs"_a = s.fast_runs, "fallback_runs"_a = s.fallback_runs,
                  "gpu_runs"_a = s.gpu_runs, "fallback_reason"_a = s.fallback_reason,
                  "compile_seconds"_a = s.compile_seconds, "failed_boards"_a = s.failed_boards,
                  "checks"_a = s.checks, "failed_ranks"_a = py::tuple(py::cast(s.failed_ranks)),
                  "conversion_seconds"_a = s.conversion_seconds,
                  "transfer_seconds"_a = s.transfer_seconds, "board_seconds"_a = s.board_seconds,
                  "overlap_seconds"_a = s.overlap_seconds);
}

py::list timeline(DeviceHandle& handle) {
  return tuples(handle.run(&Device::timeline), [](const TimelineEvent& e) {
    return py::make_tuple(e.board, e.part, e.what, e.begin, e.end,
                          e.clock == TimelineClock::Measured, e.rank);
  });
}

void write_trace_of(DeviceHandle& handle, const std::string& path) {
  // C functions would end the name there.
  if (path.find('\0') != std::string::npos)
    throw py::value_error("path: the name of a file has no null character");
  handle.run([&](Device& d) { write_trace(path, d.timeline()); });
}

py::list rank_reports(DeviceHandle& handle) {
  return tuples(handle.run(&Device::rank_reports), [](const RankReport& r) {
    return py::make_tuple(r.rank, r.host, r.boards, r.threads, r.pairs, r.bytes_to_board,
                          r.bytes_from_board, r.bytes_received, r.sources_bytes, r.seconds,
                          r.waiting_seconds, r.memory_bytes, r.sources_seconds, r.sources_waiting);
  });
}

py::list streams(DeviceHandle& handle) {
  return tuples(handle.device().streams(), [](const StreamStatistics& s) {
    return py::make_tuple(s.board, s.stream, s.bytes_sent, s.bytes_received, s.connections,
                          s.repeated_frames, s.retransmitted_packets, s.round_trip_seconds,
                          s.delivery_rate, s.pacing_rate);
  });
}

py::list board_tests(DeviceHandle& handle, unsigned rounds) {
  return tuples(handle.run([rounds](Device& d) { return d.test(rounds); }),
                [](const BoardTest& t) { return py::make_tuple(t.board, t.failure, t.seconds); });
}

/// Calls `work` like Device::retry_on_rank_failure. Python exceptions are converted to the
/// library's errors while they pass through the library, and the original exception is rethrown.
void retry_on_rank_failure(DeviceHandle& handle, const py::function& work) {
  Device& device = handle.device();
  std::optional<py::error_already_set> collective;
  const auto once = [&] {
    const py::gil_scoped_acquire acquired;
    collective.reset();
    try {
      work();
    } catch (py::error_already_set& error) {
      if (error.matches(py::module_::import("gdr.errors").attr("RankFailure")))
        throw RankFailure(py::str(error.value()));
      if (!py::hasattr(error.value(), "_collective")) throw;
      const std::string text = py::str(error.value());
      collective.emplace(error);
      throw CollectiveError(ErrorCategory::Input, text);
    }
  };
  try {
    const py::gil_scoped_release released;
    device.retry_on_rank_failure(once);
  } catch (const Error&) {
    if (collective) throw *collective;
    throw;
  }
}

py::tuple estimate_of(DeviceHandle& handle, const Kernel& kernel, std::size_t targets,
                      std::size_t sources, double accuracy,
                      std::vector<std::pair<std::string, double>> params) {
  const EstimateCall call{targets, sources, accuracy, std::move(params)};
  const Estimate e = handle.run([&](Device& d) { return estimate(d, kernel, call); });
  return py::make_tuple(e.seconds, e.low, e.high, e.pairs, e.tree, e.measuring);
}

/// The bytes of all ranks in rank order; collective. All ranks must pass the same number of bytes.
py::bytes gather_bytes(DeviceHandle& handle, const std::string& own) {
  std::string all = own;
  handle.exchange([&](Device& d) {
    RankGroup* const ranks = DeviceRanks::group(d);
    if (ranks == nullptr) return;
    all.resize(own.size() * ranks->size());
    ranks->gather(own.data(), own.size(), all.data());
  });
  return all;
}

/// Throws on all ranks if a rank passes an error message; collective. The error is that of the
/// first such rank.
void agree_on_error(DeviceHandle& handle, const std::optional<std::string>& message,
                    const std::string& category) {
  std::optional<Error> error;
  if (message)
    error.emplace(category == "usage"    ? ErrorCategory::Usage
                  : category == "device" ? ErrorCategory::Device
                                         : ErrorCategory::Input,
                  *message);
  handle.exchange([&error](Device& d) {
    if (RankGroup* const ranks = DeviceRanks::group(d)) agree(*ranks, error);
  });
}

/// The directory of libgdr and its MPI plugin.
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
      .def(py::init([](const std::string& name, std::optional<std::int32_t> communicator,
                       bool interruptible) {
        if (interruptible)
          return run_interruptible_for<DevicePointer>(
              [name](const std::stop_token&) { return std::make_shared<DeviceHandle>(name); },
              AtExit::Ignore);
        const py::gil_scoped_release released;
        return std::make_shared<DeviceHandle>(name, communicator);
      }))
      .def("close", &DeviceHandle::close)
      .def_property_readonly("closed", &DeviceHandle::closed)
      .def("description", [](DeviceHandle& h) { return h.device().description(); })
      .def("target_slots",
           [](DeviceHandle& h, const Kernel& k) { return h.device().target_slots(k); })
      .def("statistics", &statistics)
      .def("prepare",
           [](DeviceHandle& h, const Kernel& k, const py::function& progress) {
             return h.device().needs_schedule() ? scheduled(k, progress) : h.device().prepare(k);
           })
      .def("estimate", &estimate_of)
      .def("reset_statistics", [](DeviceHandle& h) { h.device().reset_statistics(); })
      .def("record_timeline",
           [](DeviceHandle& h, bool on) { h.run([on](Device& d) { d.record_timeline(on); }); })
      .def("timeline", &timeline)
      .def("streams", &streams)
      .def("write_trace", &write_trace_of)
      .def_property_readonly("rank", [](DeviceHandle& h) { return h.device().rank(); })
      .def_property_readonly("ranks", [](DeviceHandle& h) { return h.device().ranks(); })
      .def("rank_reports", &rank_reports)
      .def("gather_bytes", &gather_bytes)
      .def("test", &board_tests)
      .def("interrupt", [](DeviceHandle& h) { h.device().interrupt(); })
      .def("shrink", [](DeviceHandle& h) { return h.run(&Device::shrink); })
      .def("retry_on_rank_failure", &retry_on_rank_failure)
      .def("agree", &agree_on_error);
  m.def("library_folder", &library_folder);
}

}  // namespace gdr::python
