// The engine of the playground: compiler, assembler and one chip behind a plain C interface. Every
// function returns JSON, valid until the next call; {"error": "..."} if it fails. One program is
// loaded at a time.
#include "emulator/engine/api/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "docs/site/playground/listing.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/api/pass.hpp"
#include "emulator/engine/runners/transfers.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/port/partition.hpp"
#include "emulator/selftest/case.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "gdr/machine.hpp"
#include "kernels/builtin.hpp"
#include "kernels/compiler/compiler.hpp"
#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/ir/evaluate.hpp"
#include "libgdr/device/arrays.hpp"

namespace {

using nlohmann::json;
using namespace gdr;

/// Values of a variable from the page: doubles, which integer variables take as integers.
struct Values {
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::vector<float> floats;
};

/// The program of the page with its inputs, on a chip of any number of blocks and PEs.
struct Session {
  std::optional<Kernel> kernel;
  std::optional<kc::Graph> graph;  ///< of a text in the kernel language
  std::map<std::string, Values, std::less<>> inputs;
  std::map<std::string, double, std::less<>> params;
  std::map<std::string, std::vector<double>, std::less<>> results;
  std::unique_ptr<Machine> machine;
  std::uint64_t executed = 0;  ///< instructions since the start
  std::size_t sources = 0, targets = 0;
};
Session session;

const Kernel& kernel() {
  if (!session.kernel) throw Error(ErrorCategory::Usage, "there is no program: it has errors");
  return *session.kernel;
}

/// Runs `work`, which returns JSON, and keeps the text for the caller.
template <typename Work>
const char* answer(const Work& work) {
  static std::string text;
  json result;
  try {
    result = work();
  } catch (const std::exception& e) {
    result = {{"error", e.what()}};
  }
  text = result.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.c_str();
}

json diagnostics_of(const Diagnostics& diagnostics) {
  json list = json::array();
  for (const Diagnostic& d : diagnostics.list)
    list.push_back({{"error", d.severity == Severity::Error},
                    {"code", d.code},
                    {"line", d.range.line},
                    {"column", d.range.column},
                    {"end", d.range.column_end},
                    {"message", d.message},
                    {"help", d.help}});
  return list;
}

void clear_session() {
  session.kernel.reset();
  session.graph.reset();
  session.machine.reset();
  session.inputs.clear();
  session.params.clear();
  session.results.clear();
}

json interface_of(const Kernel& kernel) {
  json variables = json::array();
  constexpr std::array roles{"target", "source", "result", "parameter", "output"};
  for (const KernelVariable& v : kernel.variables())
    variables.push_back({{"name", v.name},
                         {"role", roles[static_cast<std::size_t>(v.role)]},
                         {"integer", v.type == HostNumber::I64},
                         {"raw", v.type == HostNumber::Raw},
                         {"conversion", v.conversion}});
  return variables;
}

/// What the page shows of a program.
json program_of(const Program& program, const Kernel& kernel) {
  json out = playground::listing_of(program, Geometry());
  out["name"] = program.name;
  out["elements"] = program.elements;
  out["group"] = program.group;
  out["clocksPerInteraction"] = program.clocks_per_interaction();
  out["flops"] = program.flops;
  out["clockHz"] = Geometry().clock_hz;
  out["pes"] = Geometry().pes();
  out["variables"] = interface_of(kernel);
  return out;
}

std::vector<NamedInput> inputs_of(Role role, std::size_t n) {
  std::vector<NamedInput> arrays;
  for (const KernelVariable& v : kernel().variables()) {
    if (v.role != role) continue;
    const auto found = session.inputs.find(v.name);
    if (found == session.inputs.end()) {
      if (v.default_value) continue;
      throw Error(ErrorCategory::Usage, "\"" + v.name + "\" has no values");
    }
    if (v.type == HostNumber::Raw)
      throw Error(ErrorCategory::Unsupported,
                  "\"" + v.name + "\" takes the machine's bits, which this page does not set");
    Values& values = found->second;
    if (values.numbers.size() < n)
      throw Error(ErrorCategory::Usage, "\"" + v.name + "\" has too few values");
    NamedInput input{v.name, ConstArray(values.numbers)};
    if (v.type == HostNumber::I64) {
      values.integers.assign(values.numbers.begin(), values.numbers.end());
      input.array = ConstArray(values.integers.data());
    } else if (v.type == HostNumber::F32) {
      values.floats.assign(values.numbers.begin(), values.numbers.end());
      input.array = ConstArray(values.floats.data());
    }
    arrays.push_back(input);
  }
  return arrays;
}

/// Calls `set(name, value)` for all parameters of the program; one without a value is 0.
template <typename Set>
void set_params(const Set& set) {
  for (const KernelVariable& v : kernel().variables()) {
    if (v.role != Role::Param) continue;
    const auto found = session.params.find(v.name);
    set(v.name, found == session.params.end() ? 0 : found->second);
  }
}

/// Buffers for results, by variable, with their storage as doubles afterwards.
class ResultArrays {
 public:
  explicit ResultArrays(std::size_t n) {
    for (const KernelVariable& v : kernel().variables()) {
      if (v.role != Role::Result || v.type == HostNumber::Raw) continue;
      Values& values = values_[v.name];
      NamedResult result{v.name, MutableArray(values.numbers)};
      if (v.type == HostNumber::I64) {
        values.integers.resize(n);
        result.array = MutableArray(values.integers.data());
      } else if (v.type == HostNumber::F32) {
        values.floats.resize(n);
        result.array = MutableArray(values.floats.data());
      } else {
        values.numbers.resize(n);
        result.array = MutableArray(values.numbers.data());
      }
      named.push_back(result);
    }
  }
  void keep() {
    for (auto& [name, v] : values_) {
      if (!v.integers.empty()) v.numbers.assign(v.integers.begin(), v.integers.end());
      if (!v.floats.empty()) v.numbers.assign(v.floats.begin(), v.floats.end());
      session.results[name] = std::move(v.numbers);
    }
  }
  std::vector<NamedResult> named;

 private:
  std::map<std::string, Values, std::less<>> values_;
};

/// One pass over the inputs on the chip, with an exact engine.
void run_pass(std::size_t targets, std::size_t sources, std::string_view engine_name) {
  const Program& program = kernel().program();
  Geometry geometry;
  geometry.chips_per_board = 1;
  const auto engine = make_engine(engine_name);
  const auto executable = engine->prepare(program, geometry);
  const LoadedProgram loaded = load_program(program, geometry, engine->isa());
  const LinkGroup target_group = link_group(program, VarKind::Target),
                  source_group = link_group(program, VarKind::Source),
                  result_group = link_group(program, VarKind::Result),
                  param_group = link_group(program, VarKind::Param);
  const auto chunk = std::min<std::size_t>(targets, std::size_t{program.elements} * geometry.pes());
  if (targets > chunk)
    throw Error(ErrorCategory::Usage, "the chip holds only " + std::to_string(chunk) + " targets");

  LoadedChip chip(geometry);
  chip.load(loaded, *executable);
  std::vector<std::uint64_t> params(2 * param_group.fields.size());
  set_params([&](std::string_view name, double value) {
    const std::size_t k = gdr::set_params(param_group, name, {&value, 1}, params);
    const std::uint64_t bits = params[2 * k];
    std::vector<std::uint64_t> record(2);
    put_host_bits(loaded.params[k], bits, record.data());
    chip.set_param(static_cast<std::uint32_t>(k), record);
  });
  LinkWords source_words, target_words;
  const auto source_arrays = inputs_of(Role::Source, sources);
  check_inputs(source_group, sources, source_arrays, true);
  pack(source_group, sources, source_arrays, true, source_words, 1);
  const auto target_arrays = inputs_of(Role::Target, targets);
  check_inputs(target_group, targets, target_arrays, true);
  pack(target_group, targets, target_arrays, true, target_words, 1);
  BoardMemory memory(source_words.size());
  memory.write(0, source_words);

  std::vector<std::uint64_t> words(targets * result_group.words);
  const PassChip pass_chip{chip, memory, targets};
  const TargetSlots slots{ChipPartition::TargetsOverBlocks, 0, targets};
  const TargetWrite write{1, slots, target_words.data()};
  PassRun run;
  run.chips = 1;
  run.flags = run_start | run_end | run_results_only;
  run.plan = make_plan(loaded, geometry, ChipPartition::TargetsOverBlocks, sources);
  run.targets = targets;
  const ResultRead read{.chips = 1, .slots = slots};
  const auto runner = executable->pass_runner(loaded, geometry);
  runner->run({{&pass_chip, 1}, {&write, 1}, {&run, 1}, {&read, 1}, words.data(), 1});

  ResultArrays results(targets);
  std::vector<ResultBinding> bindings;
  bind_results(result_group, targets, results.named, bindings);
  unpack(result_group, bindings, 0, targets, words.data(), 1);
  results.keep();
}

/// The same sums in doubles, from the expressions of the text: the largest difference of a result
/// from those of the last pass, relative to the largest value of that result.
json compare_with_doubles(std::size_t targets, std::size_t sources) {
  if (!session.graph) throw Error(ErrorCategory::Usage, "assembly has no expressions to evaluate");
  const kc::Graph& graph = *session.graph;
  kc::InputValues<double> values(graph.variables.size());
  std::vector<const std::vector<double>*> arrays(graph.variables.size());
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    const auto& variable = graph.variables[v];
    values[v] = {0};
    if (const auto p = session.params.find(variable.name); p != session.params.end())
      values[v] = {p->second};
    if (const auto found = session.inputs.find(variable.name); found != session.inputs.end())
      arrays[v] = &found->second.numbers;
  }
  json out = json::array();
  std::vector<std::vector<double>> sums(graph.variables.size(), std::vector<double>(targets));
  for (std::size_t i = 0; i < targets; ++i) {
    auto results = kc::empty_results<double>(graph);
    for (std::size_t j = 0; j < sources; ++j) {
      for (std::size_t v = 0; v < arrays.size(); ++v)
        if (arrays[v] != nullptr)
          values[v][0] = (*arrays[v])[graph.variables[v].kind == VarKind::Source ? j : i];
      kc::reduce_terms(graph, kc::evaluate<double>(graph, values), results);
    }
    for (std::size_t v = 0; v < results.size(); ++v) sums[v][i] = results[v];
  }
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    const auto found = session.results.find(graph.variables[v].name);
    if (graph.variables[v].kind != VarKind::Result || found == session.results.end()) continue;
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < targets; ++i) {
      largest = std::max(largest, std::fabs(sums[v][i]));
      difference = std::max(difference, std::fabs(sums[v][i] - found->second[i]));
    }
    out.push_back({{"name", found->first},
                   {"largest", largest},
                   {"difference", difference},
                   {"doubles", sums[v]}});
  }
  return out;
}

/// A chip that is stepped, at its first instruction, with the inputs.
void begin_steps() {
  Machine& machine = *session.machine;
  machine.load(kernel());
  set_params([&](std::string_view name, double value) { machine.set(name, value); });
  const auto sources = inputs_of(Role::Source, session.sources);
  machine.sources(session.sources, sources);
  const auto targets = inputs_of(Role::Target, session.targets);
  machine.targets(session.targets, targets);
  session.executed = 0;
}

Machine& machine() {
  if (!session.machine) throw Error(ErrorCategory::Usage, "the chip is not started");
  return *session.machine;
}

json state_of(std::size_t block, std::size_t pe) {
  const Machine& m = machine();
  if (pe >= m.pes())
    throw Error(ErrorCategory::Usage,
                "PE " + std::to_string(pe) + ": a block has " + std::to_string(m.pes()));
  const MachinePosition at = m.position();
  const auto column = [&](MachineMemory which) {
    const std::vector<std::uint64_t> all = m.memory(which, block);
    std::vector<std::uint64_t> mine;
    for (std::size_t k = pe; k < all.size(); k += m.pes()) mine.push_back(all[k]);
    return mine;
  };
  const MachineFlags flags = m.flags(block);
  json targets = json::array();
  const std::size_t elements = kernel().program().elements;
  for (std::size_t e = 0; e < elements; ++e) {
    const std::size_t slot = (block * m.pes() + pe) * elements + e;
    if (slot < session.targets) targets.push_back(slot);
  }
  return {
      {"section", at.section},
      {"pass", at.pass},
      {"instruction", at.instruction},
      {"text", at.text},
      {"clock", at.clock},
      {"executed", session.executed},
      {"end", at.section.empty()},
      {"blocks", m.blocks()},
      {"pes", m.pes()},
      {"targets", targets},
      {"registers", playground::words_of(column(MachineMemory::Registers))},
      {"local", playground::words_of(column(MachineMemory::Local))},
      {"t", playground::words_of(column(MachineMemory::T))},
      {"broadcast", playground::words_of(m.memory(MachineMemory::Broadcast, block))},
      {"masks", column(MachineMemory::Masks)},
      {"flags",
       {{"invalid", flags.invalid}, {"overflow", flags.overflow}, {"underflow", flags.underflow}}}};
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

/// Compiles a text of the kernel language, or assembles one if `assembly` is 1; this is the program
/// of all calls that follow. `pipeline` 0: without the search for a shorter loop.
const char* play_compile(const char* text, int assembly, int pipeline) {
  return answer([&] {
    clear_session();
    json out;
    const std::string_view source(text);
    if (assembly != 0) {
      const AssembleResult result = assemble(source, "playground.gds");
      out["diagnostics"] = diagnostics_of(result.diagnostics);
      out["rendered"] = result.diagnostics.render();
      out["ok"] = result.ok();
      if (!result.ok()) return out;
      session.kernel = Kernel(*result.program);
      out["program"] = program_of(*result.program, *session.kernel);
      out["assembly"] = source;
      out["report"] = listing(*result.program, result.diagnostics);
      return out;
    }
    CompileOptions options;
    options.cache = false;
    options.pipeline = pipeline != 0;
    const CompileResult result = compile_kernel(source, "playground.gdk", options);
    out["diagnostics"] = diagnostics_of(result.diagnostics);
    out["rendered"] = result.diagnostics.render();
    out["ok"] = result.ok();
    if (!result.ok()) return out;
    session.graph = kc::read_kernel(source, "playground.gdk").graph;
    session.kernel = Kernel(*result.program);
    out["program"] = program_of(*result.program, *session.kernel);
    out["assembly"] = result.assembly;
    out["report"] = result.report;
    out["remarks"] = result.remarks;
    out["interval"] = result.initiation_interval;
    out["leastInterval"] = result.min_interval;
    out["pipelined"] = result.pipelined;
    return out;
  });
}

/// Values of a target or source variable.
const char* play_input(const char* name, const double* values, int count) {
  return answer([&] {
    session.inputs[name].numbers.assign(values, values + count);
    return json::object();
  });
}

const char* play_param(const char* name, double value) {
  return answer([&] {
    session.params[name] = value;
    return json::object();
  });
}

/// One pass on a chip of the real size; `engine` is "vector" or "reference".
const char* play_run(int targets, int sources, const char* engine) {
  return answer([&] {
    run_pass(static_cast<std::size_t>(targets), static_cast<std::size_t>(sources), engine);
    return json::object();
  });
}

/// Number of values of a result of the last pass, and the values to `values`; -1: no such result.
int play_result(const char* name, double* values, int count) {
  const auto found = session.results.find(std::string_view(name));
  if (found == session.results.end()) return -1;
  const auto n = std::min<std::size_t>(found->second.size(), static_cast<std::size_t>(count));
  std::copy_n(found->second.begin(), n, values);
  return static_cast<int>(n);
}

const char* play_compare(int targets, int sources) {
  return answer([&] {
    return compare_with_doubles(static_cast<std::size_t>(targets),
                                static_cast<std::size_t>(sources));
  });
}

/// A chip of so many blocks and PEs, at the first instruction.
const char* play_step_begin(int blocks, int pes, int targets, int sources) {
  return answer([&] {
    session.machine =
        std::make_unique<Machine>("emulator:engine=reference,blocks=" + std::to_string(blocks) +
                                  ",pes=" + std::to_string(pes));
    session.targets = static_cast<std::size_t>(targets);
    session.sources = static_cast<std::size_t>(sources);
    begin_steps();
    return json::object();
  });
}

/// Goes to the state after `count` instructions: forwards, or from the start again.
const char* play_step_to(double count) {
  return answer([&] {
    const auto wanted = static_cast<std::uint64_t>(std::max(count, 0.0));
    if (wanted < session.executed) begin_steps();
    session.executed += machine().run(wanted - session.executed);
    return json{{"executed", session.executed}};
  });
}

const char* play_step_state(int block, int pe) {
  return answer(
      [&] { return state_of(static_cast<std::size_t>(block), static_cast<std::size_t>(pe)); });
}

/// Assembly of the kernel of the library with this number, compiled now, and as the library has it.
const char* play_library_kernel(int number) {
  return answer([&]() -> json {
    const auto kernels = builtin_kernels();
    if (number < 0 || static_cast<std::size_t>(number) >= kernels.size()) return json::object();
    const BuiltinKernel& k = kernels[static_cast<std::size_t>(number)];
    json out{{"name", k.name}, {"expected", k.source}};
    if (k.text.empty()) return out;
    CompileOptions options;
    options.cache = false;
    out["assembly"] = compile_kernel(k.text, std::string(k.name) + ".gdk", options).assembly;
    return out;
  });
}

/// Random programs of `gdr selftest --states`: the hash of the state that each leaves, by seed.
const char* play_random_states(const char* category, double first_seed, int count,
                               const char* engine_name) {
  return answer([&] {
    const auto engine = make_engine(engine_name);
    json out = json::array();
    for (int k = 0; k < count; ++k)
      out.push_back(selftest::hash_text(selftest::run_case(
          *engine, selftest::random_case(category, static_cast<std::uint64_t>(first_seed) +
                                                       static_cast<std::uint64_t>(k)))));
    return out;
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
