// gdr::Error as the exceptions of gdr.errors, one class for each category.
#include <array>

#include "bind.hpp"
#include "gdr/error.hpp"

namespace gdr::python {
namespace {

/// By ErrorCategory, which counts from 1.
constexpr std::array class_names{"Error",     "UsageError",  "InputError",       "ProgramError",
                                 "FileError", "DeviceError", "UnsupportedError", "InternalError"};

}  // namespace

void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
      const auto category = static_cast<std::size_t>(e.category());
      const char* const name = class_names[category < class_names.size() ? category : 0];
      const py::object type = py::module_::import("gdr.errors").attr(name);
      PyErr_SetObject(type.ptr(), py::str(e.what()).ptr());
    }
  });
}

}  // namespace gdr::python
