// gdr._core: the extension module. The package's Python code checks arguments and defines the
// public names; _core.pyi declares the types of this module.
#include "bind.hpp"
#include "gdr/version.hpp"
#include "run_interruptible.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "Extension module of the package gdr; import gdr instead.";
  m.def("version", [] { return gdr::version(); });
  m.def("wait_for_detached", &gdr::python::wait_for_detached);
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
