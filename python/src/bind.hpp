// The functions that bind the classes of the module, and helpers of all bindings.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <string>
#include <vector>

#include "device_handle.hpp"

namespace gdr::python {

namespace py = pybind11;

/// Decodes text that may contain bytes of a file name that are not UTF-8.
py::str decode_utf8(const std::string& text);

/// The enumerator whose position is that of `name` in `names`; throws ValueError for other names.
template <typename Enum, std::size_t Size>
Enum enumerator(const std::array<const char*, Size>& names, const char* argument,
                const std::string& name) {
  for (std::size_t k = 0; k < Size; ++k)
    if (names[k] == name) return static_cast<Enum>(k);
  throw py::value_error(std::string(argument) + ": unknown value " + name);
}

/// A list of tuples with the fields of each record.
template <typename Record, typename Fields>
py::list tuples(const std::vector<Record>& records, const Fields& fields) {
  py::list list;
  for (const Record& record : records) list.append(fields(record));
  return list;
}

/// Kernel::scheduled in the background: Ctrl-C cancels it, and `progress` is called with the share
/// that is done.
Kernel scheduled(const Kernel& kernel, const py::function& progress);

void bind_kernel(py::module_& m);
void bind_device(py::module_& m);
void bind_job(py::module_& m);
void bind_set_job(py::module_& m);
void bind_hermite(py::module_& m);
void bind_snapshot(py::module_& m);
void bind_neighbours(py::module_& m);
void bind_pairs(py::module_& m);
void bind_ewald(py::module_& m);
void bind_sph(py::module_& m);
void bind_trees(py::module_& m);
void bind_linalg(py::module_& m);
void bind_machine(py::module_& m);
void bind_debugger(py::module_& m);
void bind_chemistry(py::module_& m);
void bind_rebound(py::module_& m);

}  // namespace gdr::python
