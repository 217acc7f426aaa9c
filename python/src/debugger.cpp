// The debugger of a kernel on one chip.
#include "gdr/debugger.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "arrays.hpp"
#include "background.hpp"
#include "emulator/board/constants.hpp"
#include "machine_reads.hpp"

namespace gdr::python {
namespace {

/// A debugger with a lock. A movement runs in a thread that may outlive its call, and keeps it.
struct DebuggerState {
  std::mutex mutex;
  Debugger debugger;
  explicit DebuggerState(Machine machine) : debugger(std::move(machine)) {}
};

class PyDebugger {
 public:
  PyDebugger(const std::string& name, const Kernel& kernel, const py::dict& params,
             std::size_t source_count, const py::dict& sources, std::size_t target_count,
             const py::dict& targets) {
    Machine machine(name);
    machine.load(kernel);
    for (const auto& [param, value] : params)
      machine.set(param.cast<std::string>(), value.cast<double>());
    machine.sources(source_count, input_arrays(sources, source_count).list);
    machine.targets(target_count, input_arrays(targets, target_count).list);
    state_ = std::make_shared<DebuggerState>(std::move(machine));
  }

  /// Runs `work` with the lock held, and the GIL: movements do not need it.
  template <typename Work>
  auto locked(const Work& work) const {
    std::unique_lock lock(state_->mutex, std::defer_lock);
    {
      const py::gil_scoped_release released;
      lock.lock();
    }
    return work(state_->debugger);
  }

  /// A movement, in the background: Ctrl-C stops it at some position.
  py::tuple move(const std::function<StopReport(Debugger&, const std::stop_token&)>& movement) {
    const StopReport report =
        run_interruptible_for<StopReport>([state = state_, movement](const std::stop_token& stop) {
          const std::scoped_lock lock(state->mutex);
          return movement(state->debugger, stop);
        });
    constexpr std::array reasons{"steps", "condition", "end", "beginning", "interrupted"};
    const auto bits = [](const MachineBits& b) { return py::make_tuple(b.upper, b.lower); };
    return py::make_tuple(reasons[static_cast<std::size_t>(report.reason)], report.conditions,
                          tuples(report.changes, [&](const WordChange& c) {
                            return py::make_tuple(c.number, c.word, bits(c.before), bits(c.after));
                          }));
  }

 private:
  std::shared_ptr<DebuggerState> state_;
};

/// A function of the debugger.
template <typename Result, typename... Arguments>
auto member(Result (*function)(Debugger&, Arguments...)) {
  return [function](PyDebugger& x, Arguments... arguments) {
    return x.locked([&](Debugger& d) { return function(d, arguments...); });
  };
}
/// A function of its chip.
template <typename Result, typename... Arguments>
auto reading(Result (*function)(const Machine&, Arguments...)) {
  return [function](PyDebugger& x, Arguments... arguments) {
    return x.locked([&](Debugger& d) { return function(d.machine(), arguments...); });
  };
}

/// memory, block, PE, address, whether it is a long.
using WordTuple = std::tuple<std::string, std::size_t, std::size_t, std::size_t, bool>;

MachineWord word_of(const WordTuple& tuple) {
  const auto& [memory, block, pe, address, is_long] = tuple;
  return {memory_by_name(memory), block, pe, address, is_long};
}

py::list conditions(Debugger& debugger) {
  constexpr std::array kinds{"instruction", "clock", "change"};
  return tuples(debugger.conditions(), [&](const StopCondition& c) {
    std::vector<WordTuple> words;
    for (const MachineWord& w : c.words)
      words.emplace_back(memory_name(w.memory), w.block, w.pe, w.address, w.is_long);
    return py::make_tuple(c.number, kinds[static_cast<std::size_t>(c.kind)], c.text, c.enabled,
                          c.hits, words);
  });
}

unsigned watch(Debugger& debugger, const std::vector<WordTuple>& words, const std::string& text) {
  std::vector<MachineWord> list;
  for (const WordTuple& word : words) list.push_back(word_of(word));
  return debugger.watch(std::move(list), text);
}

/// The bits of words: upper and lower half of each.
std::vector<std::pair<std::uint64_t, std::uint64_t>> words(Debugger& debugger,
                                                           const std::vector<WordTuple>& places) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bits;
  for (const WordTuple& place : places) {
    const MachineBits read = debugger.read(word_of(place));
    bits.emplace_back(read.upper, read.lower);
  }
  return bits;
}

py::list variables(const Machine& machine) {
  return tuples(machine.variables(), [](const MachineVariable& v) {
    return py::make_tuple(v.name, v.kind, memory_name(v.memory), v.address, v.is_long, v.count,
                          v.step, v.conversion, v.reduction);
  });
}

/// text, file, line, clocks.
py::list listing(const Machine& machine, const std::string& section) {
  return tuples(machine.listing(section), [](const MachineInstruction& i) {
    return py::make_tuple(i.text, i.file, i.line, i.clocks);
  });
}

py::tuple sizes(const Machine& machine) {
  return py::make_tuple(machine.blocks(), machine.pes(), machine.passes(), machine.target_count());
}

unsigned break_at(Debugger& d, const std::string& section, std::size_t instruction,
                  const std::optional<std::uint64_t>& pass) {
  return d.break_at(section, instruction, pass);
}
unsigned break_at_section(Debugger& d, const std::string& section,
                          const std::optional<std::uint64_t>& pass) {
  return d.break_at_section(section, pass);
}
unsigned break_at_line(Debugger& d, std::uint32_t line, const std::string& file) {
  return d.break_at_line(line, file);
}
unsigned break_at_clock(Debugger& d, std::uint64_t clock) { return d.break_at_clock(clock); }
void remove(Debugger& d, unsigned number) { d.remove(number); }
void enable(Debugger& d, unsigned number, bool enabled) { d.enable(number, enabled); }
void write(Debugger& d, const WordTuple& word, std::uint64_t upper, std::uint64_t lower) {
  d.write(word_of(word), {upper, lower});
}
std::uint64_t count(Debugger& d) { return d.position(); }
std::size_t checkpoints(Debugger& d) { return d.checkpoints(); }

/// Movements with a number, and without one.
template <StopReport (Debugger::*function)(std::uint64_t, const std::stop_token&)>
py::tuple move_by(PyDebugger& x, std::uint64_t n) {
  return x.move([n](Debugger& d, const std::stop_token& stop) { return (d.*function)(n, stop); });
}
template <StopReport (Debugger::*function)(const std::stop_token&)>
py::tuple move(PyDebugger& x) {
  return x.move([](Debugger& d, const std::stop_token& stop) { return (d.*function)(stop); });
}

}  // namespace

void bind_debugger(py::module_& m) {
  m.attr("pe_clock_joules") = constants::pe_clock_energy.value;
  py::class_<PyDebugger>(m, "Debugger")
      .def(py::init<const std::string&, const Kernel&, const py::dict&, std::size_t,
                    const py::dict&, std::size_t, const py::dict&>())
      .def("step", &move_by<&Debugger::step>)
      .def("back", &move_by<&Debugger::back>)
      .def("step_clocks", &move_by<&Debugger::step_clocks>)
      .def("go_to", &move_by<&Debugger::go_to>)
      .def("next_pass", &move<&Debugger::next_pass>)
      .def("previous_pass", &move<&Debugger::previous_pass>)
      .def("run", &move<&Debugger::run>)
      .def("run_back", &move<&Debugger::run_back>)
      .def("break_at", member(&break_at))
      .def("break_at_section", member(&break_at_section))
      .def("break_at_line", member(&break_at_line))
      .def("break_at_clock", member(&break_at_clock))
      .def("watch", member(&watch))
      .def("remove", member(&remove))
      .def("enable", member(&enable))
      .def("conditions", member(&conditions))
      .def("words", member(&words))
      .def("write", member(&write))
      .def("count", member(&count))
      .def("checkpoints", member(&checkpoints))
      .def("variables", reading(&variables))
      .def("listing", reading(&listing))
      .def("sizes", reading(&sizes))
      .def("position", reading(&position))
      .def("memory", reading(&memory))
      .def("reduced", reading(&reduced))
      .def("flags", reading(&flags))
      .def("results", reading(&results));
}

}  // namespace gdr::python
