// Runs a kernel on every engine and instruction set and compares with its graph in long doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/codegen_support.hpp"
#include "emulator/engine/api/engine.hpp"

namespace gdr::test {

/// A tolerance for doubles and one for floats; `exact` is for the exact engine.
struct Tolerances {
  double exact, doubles, floats;
};
constexpr Tolerances of_shorts{1e-6, 1e-6, 1e-5}, of_longs{1e-13, 1e-13, 1e-5};

struct Place {
  std::string engine;
  double tolerance;
};
/// Whether engines on a GPU take part: GDR_TEST_GPU is set. Compilers of OpenCL take a second for a
/// kernel.
inline bool tests_gpu() { return std::getenv("GDR_TEST_GPU") != nullptr; }
inline std::vector<Place> places(const Tolerances& t) {
  std::vector<Place> all{{"vector", t.exact}};
  for (const Isa isa : host_isas()) {
    const std::string name = ",isa=" + std::string(isa_name(isa));
    all.push_back({"native" + name, t.doubles});
    all.push_back({"native-mixed" + name, t.floats});
    all.push_back({"native-float" + name, t.floats});
  }
  if (tests_gpu()) {
    all.push_back({"gpu", t.doubles});
    all.push_back({"gpu-float", t.floats});
  }
  return all;
}

inline std::size_t count_of(const kc::Graph& graph, VarKind kind, const Data& data) {
  for (const kc::GraphVariable& v : graph.variables)
    if (v.kind == kind) return data.at(v.name).size();
  return 1;
}

/// Runs a kernel on all engines and compares all results with its graph.
inline void check_everywhere(const std::string& text, const Data& data,
                             const Tolerances& tolerances, std::uint64_t seed = 1) {
  const kc::Graph graph = graph_of(text);
  CompileOptions options;
  options.effort = 0;
  const CompileResult made = compile_kernel(text, "test.gdk", options);
  INFO(text << made.diagnostics.render());
  REQUIRE(made.ok());
  const Kernel kernel(*made.program);
  const std::size_t targets = count_of(graph, VarKind::Target, data);
  const std::size_t sources = count_of(graph, VarKind::Source, data);
  const std::vector<Expected> right = all_expected(graph, data, targets, sources);
  for (const Place& place : places(tolerances)) {
    const Data got = run(kernel, data, targets, sources, place.engine);
    for (std::size_t t = 0; t < targets; ++t) {
      const Expected& e = right[t];
      for (std::size_t v = 0; v < graph.variables.size(); ++v) {
        if (graph.variables[v].kind != VarKind::Result) continue;
        const double value = got.at(graph.variables[v].name)[t];
        const long double size = std::max(e.size[v], std::fabs(e.value[v]));
        INFO(text << '\n'
                  << place.engine << ", seed " << seed << ", target " << t << ", "
                  << graph.variables[v].name << ": " << value << " instead of "
                  << static_cast<double>(e.value[v]));
        // exp ends at e^-700.
        REQUIRE(std::fabs(value - e.value[v]) <= place.tolerance * size + 1e-290);
      }
    }
  }
}

/// Runs a program on all engines; all results have the bits of the reference engine. Returns why
/// the native engine executes its loop otherwise, if it does.
inline std::string check_bits_everywhere(const Program& program, const Data& data,
                                         std::size_t targets, std::size_t sources) {
  const Kernel kernel(program);
  const Data right = run(kernel, data, targets, sources, "reference");
  for (const Place& place : places(of_longs)) {
    INFO(place.engine);
    CHECK(run(kernel, data, targets, sources, place.engine) == right);
  }
  const auto executable = make_engine("native")->prepare(program, Geometry{});
  return executable->stats()[static_cast<unsigned>(Section::Body)].reason;
}

}  // namespace gdr::test
