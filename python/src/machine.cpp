// A chip that executes a program instruction by instruction.
#include "gdr/machine.hpp"

#include <algorithm>
#include <mutex>

#include "arrays.hpp"
#include "machine_reads.hpp"

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
