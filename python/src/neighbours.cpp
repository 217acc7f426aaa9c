// Neighbour lists.
#include "gdr/neighbours.hpp"

#include "arrays.hpp"
#include "background.hpp"

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
                          const py::array& target_ids, bool exclude_same_number, unsigned threads) {
  // The search owns copies: after Ctrl-C it may go on for a moment without the caller.
  const auto copied = [](const auto& span) { return std::vector(span.begin(), span.end()); };
  const bool one = sources.is(targets);
  auto lists = run_interruptible_for<NeighbourLists>(
      [x = copied(number_span(sources, "pos")),
       at = one ? std::vector<double>() : copied(number_span(targets, "targets")),
       r = copied(number_span(radii, "radius")), own_ids = copied(id_span(source_ids, "ids")),
       wanted_ids = copied(id_span(target_ids, "target_ids")), one, exclude_same_number,
       threads](const std::stop_token& stop) {
        return find_neighbours(x, one ? x : at, r,
                               {own_ids, wanted_ids, exclude_same_number, threads, stop});
      });
  return py::make_tuple(array_of(std::move(lists.offsets)), array_of(std::move(lists.indices)));
}

}  // namespace

void bind_neighbours(py::module_& m) { m.def("find_neighbours", &neighbour_lists); }

}  // namespace gdr::python
