// One chip, instruction by instruction.
#include "gdr/machine.hpp"

#include <algorithm>
#include <array>

#include "arrays.hpp"
#include "bind.hpp"

namespace gdr::python {
namespace {

/// By MachineMemory.
constexpr std::array memory_names{"registers", "local", "t", "masks", "broadcast"};

MachineMemory memory_by_name(const std::string& name) {
  for (std::size_t k = 0; k < memory_names.size(); ++k)
    if (memory_names[k] == name) return static_cast<MachineMemory>(k);
  throw py::value_error("memory: registers, local, t, masks and broadcast are known, not " + name);
}

/// Raw words of all blocks: (blocks, addresses, PEs), of the broadcast memory (blocks, addresses).
py::array_t<std::uint64_t> memory(const Machine& machine, const std::string& name) {
  const MachineMemory which = memory_by_name(name);
  const std::size_t blocks = machine.blocks();
  const std::size_t size = machine.memory(which, 0).size();
  const bool shared = which == MachineMemory::Broadcast;
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(blocks),
                                 static_cast<py::ssize_t>(shared ? size : size / machine.pes())};
  if (!shared) shape.push_back(static_cast<py::ssize_t>(machine.pes()));
  py::array_t<std::uint64_t> out(shape);
  for (std::size_t b = 0; b < blocks; ++b)
    std::ranges::copy(machine.memory(which, b), out.mutable_data() + b * size);
  return out;
}

/// (addresses, PEs), of the broadcast memory (addresses).
py::array_t<std::uint64_t> reduced(const Machine& machine, const std::string& name,
                                   const std::string& operation) {
  const MachineMemory which = memory_by_name(name);
  const std::vector<std::uint64_t> words = machine.reduced(which, operation);
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(words.size())};
  if (which != MachineMemory::Broadcast) {
    shape[0] /= static_cast<py::ssize_t>(machine.pes());
    shape.push_back(static_cast<py::ssize_t>(machine.pes()));
  }
  py::array_t<std::uint64_t> out(shape);
  std::ranges::copy(words, out.mutable_data());
  return out;
}

py::tuple flags(const Machine& machine, std::size_t block) {
  const MachineFlags f = machine.flags(block);
  return py::make_tuple(f.invalid, f.overflow, f.underflow);
}

py::tuple position(const Machine& machine) {
  const MachinePosition p = machine.position();
  return py::make_tuple(p.section, p.pass, p.instruction, p.text, p.file, p.line, p.clock);
}

/// Some at a time: Ctrl-C is heard, and other threads of Python run.
std::uint64_t run(Machine& machine, std::uint64_t most) {
  constexpr std::uint64_t at_once = 64;
  std::uint64_t done = 0;
  while (done < most) {
    const std::uint64_t some = std::min(at_once, most - done);
    std::uint64_t now = 0;
    {
      const py::gil_scoped_release released;
      now = machine.run(some);
    }
    done += now;
    if (now < some) break;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return done;
}

}  // namespace

void bind_machine(py::module_& m) {
  py::class_<Machine>(m, "Machine")
      .def(py::init<const std::string&>())
      .def("load", &Machine::load)
      .def("set", [](Machine& x, const std::string& name, double value) { x.set(name, value); })
      .def("sources", [](Machine& x, std::size_t n,
                         const py::dict& arrays) { x.sources(n, input_arrays(arrays, n).list); })
      .def("targets", [](Machine& x, std::size_t n,
                         const py::dict& arrays) { x.targets(n, input_arrays(arrays, n).list); })
      .def("results",
           [](const Machine& x, const py::dict& arrays) {
             const auto results = result_arrays(arrays);
             for (std::size_t k = 0; k < results.list.size(); ++k)
               if (static_cast<std::size_t>(results.kept[k].size()) < x.target_count())
                 throw py::value_error(results.names[k] + ": the array is too short");
             x.results(results.list);
           })
      .def("restart", &Machine::restart)
      .def("step", &Machine::step)
      .def("run", &run)
      .def("position", &position)
      .def("instructions",
           [](const Machine& x, const std::string& section) { return x.instructions(section); })
      .def("memory", &memory)
      .def("reduced", &reduced)
      .def("flags", &flags)
      .def("set_memory",
           [](Machine& x, const std::string& name, std::size_t block, std::size_t address,
              std::size_t pe,
              std::uint64_t word) { x.set_memory(memory_by_name(name), block, address, pe, word); })
      .def_property_readonly("blocks", &Machine::blocks)
      .def_property_readonly("pes", &Machine::pes)
      .def_property_readonly("target_count", &Machine::target_count)
      .def_property_readonly("target_slots", &Machine::target_slots);
}

}  // namespace gdr::python
