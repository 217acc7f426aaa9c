// Kernels, from text, from a file or built in.
#include "gdr/kernel.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stop_token>

#include "bind.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/program.hpp"
#include "kernels/builtin.hpp"
#include "kernels/compiler/front/front.hpp"

namespace gdr::python {
namespace {

constexpr std::array role_names{"target", "source", "result", "param", "output"};
constexpr std::array type_names{"float64", "float32", "int64", "raw"};

py::list kernel_variables(const Kernel& kernel) {
  return tuples(kernel.variables(), [](const KernelVariable& v) {
    return py::make_tuple(v.name, role_names[static_cast<std::size_t>(v.role)],
                          type_names[static_cast<std::size_t>(v.type)], v.conversion, v.reduction,
                          v.host_bytes, v.default_value, v.quantity, v.component, v.squared);
  });
}

py::list arrays(const Kernel& kernel) {
  return tuples(kernel.arrays(), [](const KernelArray& a) {
    return py::make_tuple(a.name, a.first, py::tuple(py::cast(a.sizes)), a.complex);
  });
}

/// Checks the text at once; the search for a schedule comes later.
Kernel compile(const std::string& text, const std::string& name, unsigned effort) {
  return run_interruptible_for<Kernel>(
      [text, name, effort](const std::stop_token&) { return Kernel::compile(text, name, effort); });
}

Kernel load(const std::string& path) {
  return run_interruptible_for<Kernel>(
      [path](const std::stop_token& stop) { return Kernel::load(path, stop); });
}

Kernel assemble(const std::string& text, const std::string& name) {
  return run_interruptible_for<Kernel>(
      [text, name](const std::stop_token&) { return Kernel::assemble(text, name); });
}

Kernel from_object(const py::buffer& bytes, const std::string& name) {
  const py::buffer_info data = bytes.request();
  return Kernel::from_object(data.ptr, static_cast<std::size_t>(data.size * data.itemsize), name);
}

/// The source of a kernel of the library: kernel language, or assembly.
std::string builtin_text(const std::string& name) {
  for (const BuiltinKernel& kernel : builtin_kernels())
    if (kernel.name == name) return std::string(kernel.text.empty() ? kernel.source : kernel.text);
  throw py::value_error("no kernel " + name);
}

}  // namespace

Kernel scheduled(const Kernel& kernel, const py::function& progress) {
  const auto share = std::make_shared<std::atomic<double>>(0);
  return run_interruptible_for<Kernel>(
      [kernel, share](const std::stop_token& stop) {
        return kernel.scheduled(stop, [&](double done) { *share = done; });
      },
      AtExit::Wait, [&] { progress(share->load()); });
}

namespace {

Kernel adjoint(const Kernel& kernel, const std::vector<std::string>& variables) {
  return run_interruptible_for<Kernel>(
      [kernel, variables](const std::stop_token&) { return kernel.adjoint(variables); });
}

}  // namespace

void bind_kernel(py::module_& m) {
  py::class_<Kernel>(m, "Kernel")
      .def_static("assemble", &assemble)
      .def_static("compile", &compile)
      .def_static("load", &load)
      .def_static("from_object", &from_object)
      .def_static("builtin", [](const std::string& name) { return Kernel::builtin(name); })
      .def_static("builtin_names", &Kernel::builtin_names)
      .def_static("builtin_text", &builtin_text)
      .def_static("language_functions", &kc::function_names)
      .def_property_readonly("name", [](const Kernel& k) { return decode_utf8(k.name()); })
      .def_property_readonly("variables", &kernel_variables)
      .def_property_readonly("arrays", &arrays)
      .def_property_readonly("host_names", &Kernel::host_names)
      .def("with_host_names", &Kernel::with_host_names)
      .def("scheduled", &scheduled)
      .def("adjoint", &adjoint)
      .def("adjoint_text", &Kernel::adjoint_text)
      .def_property_readonly("clocks", &Kernel::clocks_per_interaction)
      .def_property_readonly("flops", &Kernel::flops_per_interaction)
      .def_property_readonly("assembly",
                             [](const Kernel& k) { return disassemble(k.with_longs().program()); })
      .def_property_readonly("object", [](const Kernel& k) {
        return py::bytes(reinterpret_cast<const char*>(k.object().data()), k.object().size());
      });
}

}  // namespace gdr::python
