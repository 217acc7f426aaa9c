// The parts of the module, each in a file of its own.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "handle.hpp"

namespace gdr::python {

namespace py = pybind11;

/// Text that may hold bytes of a file's name which are no UTF-8.
py::str readable(const std::string& text);

void bind_errors(py::module_& m);
void bind_kernel(py::module_& m);
void bind_device(py::module_& m);
void bind_job(py::module_& m);
void bind_gravity(py::module_& m);
void bind_product(py::module_& m);
void bind_solver(py::module_& m);
void bind_batch(py::module_& m);
void bind_distributed(py::module_& m);
void bind_machine(py::module_& m);

}  // namespace gdr::python
