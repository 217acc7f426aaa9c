// Set jobs: a kernel on many sets of targets and sources, with flattened lists of NumPy arrays.
#include <algorithm>
#include <optional>
#include <tuple>

#include "background_job.hpp"
#include "gdr/set_list.hpp"

namespace gdr::python {
namespace {

using Offsets = py::array_t<std::int64_t, py::array::c_style>;
using Index = py::array_t<std::int32_t, py::array::c_style>;

/// Sources of some sets: arrays of n items, and lists of an index or of consecutive items.
using Lists = std::tuple<Offsets, std::size_t, py::dict, std::optional<Index>>;
/// Sets with the same arrays: offsets of their targets, arrays of n targets and results, sources.
using Group = std::tuple<Offsets, std::size_t, py::dict, py::dict, std::vector<Lists>>;

std::span<const std::int64_t> offset_span(const Offsets& offsets) {
  return {offsets.data(), static_cast<std::size_t>(offsets.size())};
}

[[noreturn]] void refuse(const char* what) { throw Error(ErrorCategory::Usage, what); }

/// The sets of a call, with the arrays that they refer to.
class Sets {
 public:
  explicit Sets(const std::vector<Group>& groups) {
    for (const auto& [offsets, n, targets, filled, sources] : groups) {
      const auto bounds = offset_span(offsets);
      if (!bounds.empty() && bounds.back() > static_cast<std::int64_t>(n))
        refuse("the last offset exceeds the number of targets");
      check_lengths(filled, n);
      inputs_.push_back(input_arrays(targets, n));
      results_.push_back(result_arrays(filled));
      list_.add_sets(bounds, inputs_.back().list, results_.back().list);
      for (const Lists& lists : sources) add(lists);
    }
  }
  std::span<const InteractionSet> sets() { return list_.sets(); }
  std::vector<NamedArrays<NamedResult>> results() && { return std::move(results_); }

 private:
  static void check_lengths(const py::dict& arrays, std::size_t n) {
    for (const auto& [name, value] : arrays) {
      const auto array = py::cast<py::array>(value);
      // An unknown name, which the library rejects, has an empty array.
      if (array.ndim() == 0 || (array.size() > 0 && rows(array) != n))
        refuse("a result has another length than the targets");
    }
  }
  void add(const Lists& lists) {
    const auto& [offsets, n, arrays, index] = lists;
    inputs_.push_back(input_arrays(arrays, n));
    SourceSegment all{n, inputs_.back().list};
    if (index) {
      all.n = static_cast<std::size_t>(index->size());
      all.index = index->data();
      all.items = n;
    }
    list_.add_source_lists(offset_span(offsets), all);
  }

  std::vector<NamedArrays<NamedInput>> inputs_;
  std::vector<NamedArrays<NamedResult>> results_;
  SetList list_;
};

class PySetJob : public BackgroundJob<SetJob> {
 public:
  PySetJob(DevicePointer device, const Kernel& kernel)
      : BackgroundJob(std::move(device), [&](Device& d) { return SetJob(d, kernel); }) {}

  void set(const std::string& name, double value) {
    job_.run([&](SetJob& j) { j.set(name, value); }, true);
  }
  void run(const std::vector<Group>& groups) {
    Sets sets(groups);
    finish();
    job_.run([&](SetJob& j) { j.run(sets.sets()); });
  }
  void start(const std::vector<Group>& groups) {
    Sets sets(groups);
    finish();
    job_.run([&](SetJob& j) { j.start(sets.sets()); });
    begin();
    pending_ = std::move(sets).results();
  }
};

}  // namespace

void bind_set_job(py::module_& m) {
  py::class_<PySetJob>(m, "SetJob")
      .def(py::init<DevicePointer, const Kernel&>())
      .def("set", &PySetJob::set)
      .def("run", &PySetJob::run)
      .def("start", &PySetJob::start)
      .def("ready", &PySetJob::ready)
      .def("wait", &PySetJob::wait);
}

}  // namespace gdr::python
