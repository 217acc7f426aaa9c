// A chip that executes a program instruction by instruction.
#include "gdr/machine.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "arrays.hpp"
#include "gdr/error.hpp"

namespace gdr::python {
namespace {

/// A chip with a lock: other threads wait, without the GIL, while one executes instructions.
class PyMachine {
 public:
  explicit PyMachine(const std::string& name) : machine_(name) {}

  /// Runs `work` with the lock held. `work` must not acquire the GIL: a thread that has the GIL may
  /// wait for the lock.
  template <typename Work>
  auto locked(const Work& work) {
    const std::scoped_lock lock(mutex_);
    return work(machine_);
  }

 private:
  std::mutex mutex_;
  Machine machine_;
};

/// A member function of Machine as one of PyMachine.
template <typename Result, typename... Arguments>
auto member(Result (Machine::*function)(Arguments...)) {
  return [function](PyMachine& x, Arguments... arguments) {
    return x.locked([&](Machine& m) { return (m.*function)(arguments...); });
  };
}
template <typename Result, typename... Arguments>
auto member(Result (Machine::*function)(Arguments...) const) {
  return [function](PyMachine& x, Arguments... arguments) {
    return x.locked([&](const Machine& m) { return (m.*function)(arguments...); });
  };
}
/// A free function of a Machine as a member function of PyMachine.
template <typename Result, typename Chip, typename... Arguments>
auto member(Result (*function)(Chip&, Arguments...)) {
  return [function](PyMachine& x, Arguments... arguments) {
    return x.locked([&](Machine& m) { return function(m, arguments...); });
  };
}

/// In the order of MachineMemory.
constexpr std::array memory_names{"registers", "local", "t", "masks", "broadcast"};

MachineMemory memory_by_name(const std::string& name) {
  return enumerator<MachineMemory>(memory_names, "memory", name);
}

using Words = std::vector<std::uint64_t>;

/// Words as an array (addresses, PEs), or (addresses) for the broadcast memory; `shape` is empty,
/// or the number of blocks, as the first dimension.
py::array_t<std::uint64_t> array_of(const Words& words, const Machine& machine, MachineMemory which,
                                    std::vector<std::size_t> shape) {
  const bool has_pes = which != MachineMemory::Broadcast;
  shape.push_back(words.size() / (shape.empty() ? 1 : shape[0]) / (has_pes ? machine.pes() : 1));
  if (has_pes) shape.push_back(machine.pes());
  py::array_t<std::uint64_t> out(shape);
  std::ranges::copy(words, out.mutable_data());
  return out;
}

/// Raw words of all blocks.
py::array_t<std::uint64_t> memory(const Machine& machine, const std::string& name) {
  const MachineMemory which = memory_by_name(name);
  Words words;
  for (std::size_t b = 0; b < machine.blocks(); ++b) {
    const Words block = machine.memory(which, b);
    words.insert(words.end(), block.begin(), block.end());
  }
  return array_of(words, machine, which, {machine.blocks()});
}

/// A memory reduced over the blocks.
py::array_t<std::uint64_t> reduced(const Machine& machine, const std::string& name,
                                   const std::string& operation) {
  const MachineMemory which = memory_by_name(name);
  return array_of(machine.reduced(which, operation), machine, which, {});
}

py::tuple flags(const Machine& machine, std::size_t block) {
  const MachineFlags f = machine.flags(block);
  return py::make_tuple(f.invalid, f.overflow, f.underflow);
}

py::tuple position(const Machine& machine) {
  const MachinePosition p = machine.position();
  return py::make_tuple(p.section, p.pass, p.instruction, p.text, p.file, p.line, p.clock);
}

/// Executes instructions in chunks, so that signals are handled and other Python threads run.
std::uint64_t run(PyMachine& machine, std::uint64_t most) {
  constexpr std::uint64_t chunk = 64;
  std::uint64_t done = 0;
  while (done < most) {
    const std::uint64_t requested = std::min(chunk, most - done);
    std::uint64_t executed = 0;
    {
      const py::gil_scoped_release released;
      executed = machine.locked([requested](Machine& m) { return m.run(requested); });
    }
    done += executed;
    if (executed < requested) break;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return done;
}

void sources(Machine& machine, std::size_t n, const py::dict& arrays) {
  machine.sources(n, input_arrays(arrays, n).list);
}

void targets(Machine& machine, std::size_t n, const py::dict& arrays) {
  machine.targets(n, input_arrays(arrays, n).list);
}

/// Fills arrays that have been allocated for this number of targets.
void results(Machine& machine, const py::dict& arrays, std::size_t targets) {
  if (machine.target_count() != targets)
    throw Error(ErrorCategory::Usage, "the targets have changed during the call");
  machine.results(result_arrays(arrays).list);
}

void set_memory(Machine& machine, const std::string& name, std::size_t block, std::size_t address,
                std::size_t pe, std::uint64_t word) {
  machine.set_memory(memory_by_name(name), block, address, pe, word);
}

}  // namespace

void bind_machine(py::module_& m) {
  py::class_<PyMachine>(m, "Machine")
      .def(py::init<const std::string&>())
      .def("load", member(&Machine::load))
      .def("set", member(&Machine::set))
      .def("sources", member(&sources))
      .def("targets", member(&targets))
      .def("results", member(&results))
      .def("restart", member(&Machine::restart))
      .def("step", member(&Machine::step))
      .def("run", &run)
      .def("position", member(&position))
      .def("instructions", member(&Machine::instructions))
      .def("memory", member(&memory))
      .def("reduced", member(&reduced))
      .def("flags", member(&flags))
      .def("set_memory", member(&set_memory))
      .def_property_readonly("blocks", member(&Machine::blocks))
      .def_property_readonly("pes", member(&Machine::pes))
      .def_property_readonly("target_count", member(&Machine::target_count))
      .def_property_readonly("target_slots", member(&Machine::target_slots));
}

}  // namespace gdr::python
