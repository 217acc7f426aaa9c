// Adjoint kernels of random kernels against differences of sums, on the host and on every engine.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/adjoint_support.hpp"
#include "compiler/random_kernel.hpp"
#include "engine/all_engines.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

constexpr std::size_t i_count = 3, j_count = 4;

/// Whether a kernel was refused because it exceeds the memories of the chip: of a random one in
/// longs that is fine.
bool exceeds_chip(const CompileResult& result) {
  return !result.ok() && std::ranges::all_of(result.diagnostics.list, [](const Diagnostic& d) {
    return d.severity != Severity::Error || d.code / 1000 == 8;
  });
}

/// The results of all targets, weighted, and the sum of their magnitudes.
struct Weighted {
  long double sum = 0, size = 0;
};
Weighted weighted_sum(const kc::Graph& law, const Data& data) {
  Weighted s;
  for (std::size_t t = 0; t < i_count; ++t) {
    const Expected e = expected(law, data, t, j_count);
    for (std::size_t v = 0; v < law.variables.size(); ++v) {
      const kc::GraphVariable& x = law.variables[v];
      if (x.kind != VarKind::Result || x.type == kc::Type::Int) continue;
      const long double weight = data.at(x.name + "_bar")[t];
      s.sum += weight * e.value[v];
      s.size += std::fabs(weight) * std::max(e.size[v], std::fabs(e.value[v]));
    }
  }
  return s;
}

/// Whether a derivative is the difference of the sum for one of a few steps: a corner of |x|, or of
/// a selection, may lie within one of them.
bool is_difference(const kc::Graph& law, const Data& data, const std::string& name,
                   std::size_t item, long double derivative, long double size) {
  for (const double step : {0x1p-20, 0x1p-23, 0x1p-26, 0x1p-17}) {
    Data moved = data;
    double& x = moved[name][item];
    const double middle = x, high = middle + step, low = middle - step;
    x = high;
    const Weighted above = weighted_sum(law, moved);
    x = low;
    const Weighted below = weighted_sum(law, moved);
    const long double width = static_cast<long double>(high) - low;
    const long double slope = (above.sum - below.sum) / width;
    const long double tolerance = 1e-7L * size + 1e-18L * above.size / width;
    if (std::fabs(slope - derivative) <= tolerance) return true;
  }
  return false;
}

/// The inputs of an adjoint kernel beside those of its law: random weights of the results, and the
/// results themselves, which those of products, minima and logarithms need.
Data with_results(const kc::Graph& law, Data data, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const std::vector<Expected> all = all_expected(law, data, i_count, j_count);
  for (std::size_t v = 0; v < law.variables.size(); ++v) {
    if (law.variables[v].kind != VarKind::Result) continue;
    for (std::size_t t = 0; t < i_count; ++t) {
      data[law.variables[v].name + "_bar"].push_back(normal(random));
      data[law.variables[v].name].push_back(static_cast<double>(all[t].value[v]));
    }
  }
  return data;
}

/// The derivative with respect to an input, or to a component of one: u_bar_0 of u_0.
std::string derivative_of(const std::string& input) {
  const std::size_t end = input.find('_');
  return end == std::string::npos ? input + "_bar"
                                  : input.substr(0, end) + "_bar" + input.substr(end);
}

/// An adjoint kernel on every engine against its graph. Parts of a derivative may cancel to what is
/// left of their roundings: an absolute error.
void check_on_engines(const std::string& adjoint, const Data& data, std::size_t targets,
                      std::size_t sources) {
  CompileOptions options;
  options.pipeline = false;
  const bool in_longs = adjoint.find("precision long") != std::string::npos;
  const std::string text = (in_longs ? "" : "precision long;\n") + adjoint;
  const CompileResult made = compile_kernel(text, "test.gdk", options);
  if (exceeds_chip(made)) return;
  INFO(made.diagnostics.render());
  REQUIRE(made.ok());
  const kc::Graph graph = graph_of(text);
  const Kernel kernel(*made.program);
  const std::vector<Expected> right = all_expected(graph, data, targets, sources);
  std::vector<Place> engines{{"reference", 1e-9}, {"vector", 1e-9}, {"native-float", 1e-2}};
  for (const Isa isa : host_isas())
    engines.push_back({"native,isa=" + std::string(isa_name(isa)), 1e-9});
  if (tests_gpu()) engines.insert(engines.end(), {{"gpu", 1e-9}, {"gpu-float", 1e-2}});
  for (const Place& place : engines) {
    const Data got = run(kernel, data, targets, sources, place.engine);
    for (std::size_t v = 0; v < graph.variables.size(); ++v) {
      if (graph.variables[v].kind != VarKind::Result) continue;
      for (std::size_t t = 0; t < targets; ++t) {
        const long double value = got.at(graph.variables[v].name)[t], expect = right[t].value[v];
        CAPTURE(place.engine, t, graph.variables[v].name, value, expect);
        REQUIRE(std::fabs(value - expect) <= place.tolerance * (right[t].size[v] + 0.1L));
      }
    }
  }
}

/// All derivatives of a law against differences, and the kernels that compute them on every engine.
void check_adjoints(const std::string& text, const Data& inputs, std::uint64_t seed) {
  const kc::Graph law = graph_of(text);
  const Data data = with_results(law, inputs, seed);
  std::vector<std::string> variables;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(variables, name) == variables.end()) variables.push_back(name);
  };
  for (const kc::GraphVariable& x : law.variables)
    if (x.kind != VarKind::Result && x.type != kc::Type::Int && x.table_size == 0)
      add(x.name.substr(0, x.name.find('_')));
  for (const std::string& adjoint : adjoints_of(text, variables)) {
    INFO(text << adjoint);
    const kc::Graph graph = graph_of(adjoint);
    const bool exchanged = adjoint.find("VARF p_bar") != std::string::npos;
    const std::size_t targets = exchanged ? j_count : i_count;
    const std::size_t sources = exchanged ? i_count : j_count;
    const std::vector<Expected> all = all_expected(graph, data, targets, sources);
    const VarKind side = exchanged ? VarKind::Source : VarKind::Target;
    for (const kc::GraphVariable& x : law.variables) {
      const bool parameter = !exchanged && x.kind == VarKind::Param;
      if (x.type == kc::Type::Int || x.table_size > 0 || (x.kind != side && !parameter)) continue;
      const std::size_t v = variable_index(graph, derivative_of(x.name));
      long double total = 0, total_size = 0;
      for (std::size_t t = 0; t < targets; ++t) {
        CAPTURE(x.name, t);
        total += all[t].value[v];
        total_size += all[t].size[v];
        if (!parameter)
          REQUIRE(is_difference(law, data, x.name, t, all[t].value[v], all[t].size[v]));
      }
      CAPTURE(x.name);
      if (parameter) REQUIRE(is_difference(law, data, x.name, 0, total, total_size));
    }
    check_on_engines(adjoint, data, targets, sources);
  }
}

}  // namespace

TEST_CASE("adjoints of random kernels agree with differences on every engine") {
  const std::uint64_t first = first_seed(), cases = test_iterations(8);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    CAPTURE(seed);
    const Forms forms = seed % 2 == 0 ? Forms::Numbers : Forms::All;
    check_adjoints(RandomKernel(seed, forms).write(), random_data(seed, i_count, j_count), seed);
  }
}

}  // namespace gdr::test
