// Runs kernels of a text on an emulated device, beside what their graph says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/front_support.hpp"
#include "gdr/device.hpp"
#include "gdr/kernel.hpp"
#include "kernels/compiler/compiler.hpp"

namespace gdr::test {

/// Values by name: of targets and sources one for each, of parameters one (a table: all).
using Data = std::map<std::string, std::vector<double>>;

/// The text with a search that ends soon.
inline CompileResult compiled(const std::string& text, unsigned effort = 0) {
  CompileOptions options;
  options.effort = effort;
  CompileResult result = compile_kernel(text, "test.gdk", options);
  INFO(text << result.diagnostics.render());
  REQUIRE(result.ok());
  return result;
}

/// Results by name, of a kernel on a small device.
inline Data run(const Kernel& kernel, const Data& data, std::size_t targets, std::size_t sources,
                const std::string& engine) {
  Device device = Device::open("emulator:chips=2,blocks=3,pes=5,threads=1,engine=" + engine);
  Job job = device.job(kernel);
  Data out;
  std::map<std::string, std::vector<std::int64_t>> ints, int_results;
  std::vector<NamedInput> i, j;
  std::vector<NamedResult> results;
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role == Role::Param) {
      job.set(v.name, data.at(v.name)[0]);
      continue;
    }
    const std::size_t n = v.role == Role::Source ? sources : targets;
    if (v.role == Role::Result) {
      out[v.name].resize(n);
      int_results[v.name].resize(n);
      if (v.type == HostNumber::I64) {
        results.push_back({v.name, MutableArray(int_results[v.name].data())});
      } else {
        results.push_back({v.name, MutableArray(out[v.name])});
      }
      continue;
    }
    std::vector<NamedInput>& side = v.role == Role::Source ? j : i;
    if (v.type == HostNumber::I64) {
      for (const double x : data.at(v.name)) ints[v.name].push_back(static_cast<std::int64_t>(x));
      side.push_back({v.name, ConstArray(ints[v.name].data())});
    } else {
      side.push_back({v.name, ConstArray(data.at(v.name))});
    }
  }
  job.targets(targets, i);
  job.sources(sources, j);
  job.run(results);
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Result && v.type == HostNumber::I64)
      for (std::size_t k = 0; k < targets; ++k)
        out[v.name][k] = static_cast<double>(int_results[v.name][k]);
  return out;
}

/// What the graph gives, in long double, and for sums how large their terms are together.
struct Expected {
  std::vector<long double> value, size;
};
inline Expected expected(const kc::Graph& graph, const Data& data, std::size_t target,
                         std::size_t sources) {
  Expected e;
  e.value = kc::empty_results<long double>(graph);
  e.size.assign(graph.variables.size(), 0);
  kc::InputValues<long double> inputs(graph.variables.size());
  for (std::size_t s = 0; s < sources; ++s) {
    for (std::size_t v = 0; v < inputs.size(); ++v) {
      const kc::GraphVariable& x = graph.variables[v];
      if (x.kind == VarKind::Result) continue;
      inputs[v].clear();
      for (std::uint32_t k = 0; k < x.table_size; ++k)
        inputs[v].push_back(data.at(x.name + "_" + std::to_string(k))[0]);
      if (x.table_size > 0) continue;
      const std::vector<double>& all = data.at(x.name);
      inputs[v].push_back(all[x.kind == VarKind::Source   ? s
                              : x.kind == VarKind::Target ? target
                                                          : 0]);
    }
    const auto terms = kc::evaluate<long double>(graph, inputs);
    kc::reduce_terms(graph, terms, e.value);
    for (std::size_t t = 0; t < terms.size(); ++t)
      if (terms[t].counts)
        e.size[static_cast<std::size_t>(graph.contributions[t].result)] +=
            std::fabs(terms[t].value);
  }
  return e;
}

/// The same of all targets.
inline std::vector<Expected> all_expected(const kc::Graph& graph, const Data& data,
                                          std::size_t targets, std::size_t sources) {
  std::vector<Expected> all;
  for (std::size_t t = 0; t < targets; ++t) all.push_back(expected(graph, data, t, sources));
  return all;
}

/// Run what a text was compiled to on every engine, and compare all results of all targets.
inline void check(const std::string& text, const Program& program, const Data& data,
                  std::size_t targets, std::size_t sources, double tolerance) {
  const kc::Graph graph = graph_of(text);
  const Kernel kernel(program);
  const std::vector<Expected> right = all_expected(graph, data, targets, sources);
  for (const std::string engine : {"reference", "vector", "native"}) {
    const Data got = run(kernel, data, targets, sources, engine);
    for (std::size_t t = 0; t < targets; ++t) {
      const Expected& e = right[t];
      for (std::size_t v = 0; v < graph.variables.size(); ++v) {
        if (graph.variables[v].kind != VarKind::Result) continue;
        const double value = got.at(graph.variables[v].name)[t];
        const long double size = std::max(e.size[v], std::fabs(e.value[v]));
        INFO(text << engine << ", target " << t << ", " << graph.variables[v].name << ": " << value
                  << " instead of " << static_cast<double>(e.value[v]));
        const bool same_infinity = std::isinf(value) && value == e.value[v];
        REQUIRE((same_infinity || std::fabs(value - e.value[v]) <= tolerance * size));
      }
    }
  }
}

/// The same of a text that compiles.
inline void check(const std::string& text, const Data& data, std::size_t targets,
                  std::size_t sources, double tolerance, unsigned effort = 0) {
  check(text, *compiled(text, effort).program, data, targets, sources, tolerance);
}

}  // namespace gdr::test
