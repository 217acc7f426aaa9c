// Neighbour lists.
#include "gdr/neighbours.hpp"

#include "arrays.hpp"

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

py::array_t<std::int64_t> array_of(std::vector<std::int64_t>&& values) {
  auto* const kept = new std::vector<std::int64_t>(std::move(values));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<std::int64_t>*>(p); });
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(kept->size()), kept->data(), owner);
}

py::tuple neighbour_lists(const py::array& sources, const py::array& targets,
                          const py::array& radii, const py::array& source_ids,
                          const py::array& target_ids, bool same, unsigned threads) {
  const auto x = number_span(sources, "pos"), at = number_span(targets, "targets"),
             r = number_span(radii, "radius");
  const NeighbourOptions options{id_span(source_ids, "ids"), id_span(target_ids, "target_ids"),
                                 same, threads};
  NeighbourLists lists;
  {
    const py::gil_scoped_release release;
    lists = find_neighbours(x, at, r, options);
  }
  return py::make_tuple(array_of(std::move(lists.offsets)), array_of(std::move(lists.indices)));
}

}  // namespace

void bind_neighbours(py::module_& m) { m.def("find_neighbours", &neighbour_lists); }

}  // namespace gdr::python
