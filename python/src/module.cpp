// gdr._core: the library for the package's Python code, which checks arguments and has the names
// that users see. _core.pyi declares what is here.
#include "aside.hpp"
#include "bind.hpp"
#include "gdr/version.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The binary half of the package gdr; use the package.";
  m.def("version", [] { return gdr::version(); });
  m.def("wait_for_abandoned", &gdr::python::wait_for_abandoned);
  gdr::python::bind_errors(m);
  gdr::python::bind_kernel(m);
  gdr::python::bind_device(m);
  gdr::python::bind_job(m);
  gdr::python::bind_gravity(m);
  gdr::python::bind_product(m);
  gdr::python::bind_solver(m);
  gdr::python::bind_batch(m);
  gdr::python::bind_distributed(m);
  gdr::python::bind_machine(m);
}
