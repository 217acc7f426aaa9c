// Neighbour lists.
#include "gdr/neighbours.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "background.hpp"
#include "box.hpp"

namespace gdr::python {
namespace {

/// The elements of a one-dimensional array of int64.
std::span<const std::int64_t> id_span(const py::array& array, const char* name) {
  if (!py::isinstance<py::array_t<std::int64_t, py::array::c_style>>(array) || array.ndim() != 1)
    throw py::type_error(std::string(name) + ": expected contiguous int64");
  return {static_cast<const std::int64_t*>(array.data()), static_cast<std::size_t>(array.size())};
}

std::span<const double> number_span(const py::array& array, const char* name) {
  const auto n = static_cast<std::size_t>(array.size());
  return {doubles(array, n, name), n};
}

/// An array that owns the elements, with `columns` for each row; one-dimensional for none.
template <typename T>
py::array_t<T> array_of(std::vector<T>&& values, py::ssize_t columns = 0) {
  auto* const kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(kept->size())};
  if (columns > 0) shape = {shape[0] / columns, columns};
  return py::array_t<T>(shape, kept->data(), owner);
}

/// Arguments of a search. It owns copies: after Ctrl-C it may go on for a moment without the
/// caller.
struct Arguments {
  std::vector<double> sources, targets, radii;
  std::vector<std::int64_t> source_ids, target_ids;
  std::optional<PeriodicBox> box;
  bool is_one, exclude_same_number;
  unsigned threads;

  std::span<const double> places() const { return is_one ? sources : targets; }
  NeighbourOptions options(const std::stop_token& stop) const {
    return {source_ids, target_ids, exclude_same_number, threads, stop, box};
  }
};

Arguments arguments_of(const py::array& sources, const py::array& targets, const py::array& radii,
                       const py::array& source_ids, const py::array& target_ids,
                       const BoxArgument& box, bool exclude_same_number, unsigned threads) {
  const auto copied = [](const auto& span) { return std::vector(span.begin(), span.end()); };
  const bool is_one = sources.is(targets);
  return {copied(number_span(sources, "pos")),
          is_one ? std::vector<double>() : copied(number_span(targets, "targets")),
          copied(number_span(radii, "radius")),
          copied(id_span(source_ids, "ids")),
          copied(id_span(target_ids, "target_ids")),
          box_of(box),
          is_one,
          exclude_same_number,
          threads};
}

template <typename... Given>
py::tuple neighbour_lists(const Given&... given) {
  auto lists = run_interruptible_for<NeighbourLists>(
      [a = arguments_of(given...)](const std::stop_token& stop) {
        return find_neighbours(a.sources, a.places(), a.radii, a.options(stop));
      });
  return py::make_tuple(array_of(std::move(lists.offsets)), array_of(std::move(lists.indices)));
}

/// The arrays i, j, d, D and S; those that are not wanted are empty.
template <typename... Given>
py::tuple neighbour_pairs(const std::string& quantities, const Given&... given) {
  auto pairs = run_interruptible_for<NeighbourPairs>(
      [quantities, a = arguments_of(given...)](const std::stop_token& stop) {
        return find_neighbour_pairs(a.sources, a.places(), a.radii, quantities, a.options(stop));
      });
  return py::make_tuple(array_of(std::move(pairs.targets)), array_of(std::move(pairs.sources)),
                        array_of(std::move(pairs.distances)),
                        array_of(std::move(pairs.differences), 3),
                        array_of(std::move(pairs.shifts), 3));
}

}  // namespace

void bind_neighbours(py::module_& m) {
  using Array = py::array;
  m.def("find_neighbours",
        &neighbour_lists<Array, Array, Array, Array, Array, BoxArgument, bool, unsigned>);
  m.def("find_neighbour_pairs",
        &neighbour_pairs<Array, Array, Array, Array, Array, BoxArgument, bool, unsigned>);
}

}  // namespace gdr::python
