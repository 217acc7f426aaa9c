// gdr._core: the extension module, and its exceptions. The package's Python code checks arguments
// and defines the public names; _core.pyi declares the types of this module.
#include <array>

#include "bind.hpp"
#include "emulator/assembler/printable.hpp"
#include "gdr/error.hpp"
#include "gdr/hermite.hpp"
#include "gdr/version.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr::python {
namespace {

/// Classes of gdr.errors, indexed by ErrorCategory, whose values start at 1.
constexpr std::array class_names{"Error",     "UsageError",  "InputError",       "ProgramError",
                                 "FileError", "DeviceError", "UnsupportedError", "InternalError"};

const char* class_of(const Error& error) {
  if (dynamic_cast<const RankFailure*>(&error) != nullptr) return "RankFailure";
  if (dynamic_cast<const StepTooShort*>(&error) != nullptr) return "StepTooShort";
  const auto category = static_cast<std::size_t>(error.category());
  return class_names[category < class_names.size() ? category : 0];
}

/// Sets the Python exception. Errors that all ranks throw are marked for
/// Device.retry_on_rank_failure.
void raise(const Error& error) {
  const py::object type = py::module_::import("gdr.errors").attr(class_of(error));
  const py::object exception = type(decode_utf8(printable(error.what())));
  if (dynamic_cast<const CollectiveError*>(&error) != nullptr) exception.attr("_collective") = true;
  PyErr_SetObject(type.ptr(), exception.ptr());
}

}  // namespace

py::str decode_utf8(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

PYBIND11_MODULE(_core, m) {
  m.doc() = "Extension module of the package gdr; import gdr instead.";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
      raise(e);
    }
  });
  m.def("raise_error", [](int category, const std::string& message) {
    throw Error(static_cast<ErrorCategory>(category), message);
  });
  m.def("version", [] { return version(); });
  m.def("are_finite", &are_finite);
  m.def("are_between", &are_between);
  m.def("wait_for_detached", &wait_for_detached);
  bind_kernel(m);
  bind_device(m);
  bind_job(m);
  bind_set_job(m);
  bind_hermite(m);
  bind_snapshot(m);
  bind_neighbours(m);
  bind_pairs(m);
  bind_ewald(m);
  bind_sph(m);
  bind_trees(m);
  bind_linalg(m);
  bind_machine(m);
  bind_debugger(m);
  bind_chemistry(m);
  bind_rebound(m);
}

}  // namespace gdr::python
