// Kernels: from text, file or the library; immutable.
#include "gdr/kernel.hpp"

#include <array>

#include "bind.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::python {
namespace {

constexpr std::array role_names{"target", "source", "result", "param", "output"};
constexpr std::array type_names{"float64", "float32", "int64", "raw"};

py::list variables(const Kernel& kernel) {
  py::list list;
  for (const KernelVariable& v : kernel.variables())
    list.append(py::make_tuple(v.name, role_names[static_cast<std::size_t>(v.role)],
                               type_names[static_cast<std::size_t>(v.type)], v.conversion,
                               v.reduction, v.host_bytes));
  return list;
}

/// Compiling takes seconds: other Python threads go on.
template <typename Make>
Kernel without_gil(const Make& make) {
  const py::gil_scoped_release released;
  return make();
}

}  // namespace

void bind_kernel(py::module_& m) {
  py::class_<Kernel>(m, "Kernel")
      .def_static("assemble",
                  [](const std::string& text, const std::string& name) {
                    return without_gil([&] { return Kernel::assemble(text, name); });
                  })
      .def_static("compile",
                  [](const std::string& text, const std::string& name) {
                    return without_gil([&] { return Kernel::compile(text, name); });
                  })
      .def_static(
          "load",
          [](const std::string& path) { return without_gil([&] { return Kernel::load(path); }); })
      .def_static("from_object",
                  [](const py::bytes& bytes) {
                    const std::string data = bytes;
                    return Kernel::from_object(data.data(), data.size());
                  })
      .def_static("builtin", [](const std::string& name) { return Kernel::builtin(name); })
      .def_static("builtin_names", &Kernel::builtin_names)
      .def_property_readonly("name", &Kernel::name)
      .def_property_readonly("variables", &variables)
      .def_property_readonly("clocks", &Kernel::clocks_per_interaction)
      .def_property_readonly("flops", &Kernel::flops_per_interaction)
      .def_property_readonly("assembly", [](const Kernel& k) { return disassemble(k.program()); })
      .def_property_readonly("object", [](const Kernel& k) {
        return py::bytes(reinterpret_cast<const char*>(k.object().data()), k.object().size());
      });
}

}  // namespace gdr::python
