// Random kernels of functions of numbers of either sign: reciprocals, quotients, roots, powers and
// exponentials between absolute values, minima, maxima and conditions. Every engine must agree with
// long doubles within the error of its roundings.
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/all_engines.hpp"
#include "engine/error_bound.hpp"
#include "engine/random_text.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

/// Writes a kernel of targets x, y and sources p, q with the result f.
class Author : RandomText {
 public:
  using RandomText::RandomText;

  std::string write() {
    std::string text = below(3) == 0 ? "precision long;\n" : "";
    text += "VARI x, y; VARJ p, q; VARF f;\n";
    if (below(2) == 0) define(text, "d", one_of("x - p", "q - y", "p*x", "x*x + p*p"));
    if (below(2) == 0) text += "skip if (" + condition() + ");\n";
    for (unsigned n = below(3); n > 0; --n) define(text, "t" + std::to_string(n), number(2));
    if (below(3) == 0) text += "if (" + condition() + ") { f += " + number(2) + "; }\n";
    return text + "f += " + atom() + "*(" + number(2 + below(2)) + ");\n";
  }

 private:
  void define(std::string& text, const std::string& name, const std::string& value) {
    text += name + " = " + value + ";\n";
    names_.push_back(name);
  }
  std::string atom() { return names_[below(static_cast<unsigned>(names_.size()))]; }
  std::string condition() {
    return one_of(atom() + one_of(" < ", " > ", " <= ") + atom(), "x > 0.5", "q < 0",
                  "abs(" + atom() + ") > 2.5", "pow(" + atom() + ",-2) > 2.5",
                  function(1) + " < " + one_of("0.75", "-0.5", "y"));
  }
  /// A function of an argument of either sign, which many functions map to non-negative numbers.
  std::string function(int depth) {
    const std::string a = number(depth);
    switch (below(14)) {
      case 0:
        return "recip(" + a + ")";
      case 1:
        return "(" + atom() + "/(" + a + "))";
      case 2:
        return "(1/(" + a + "))";
      case 3:
        return "rsqrt(abs(" + a + "))";
      case 4:
        return "rsqrt((" + a + ")^2 + " + one_of("0.01", "3") + ")";
      case 5:
        return "pow(" + a + "," + one_of("-1", "-2", "-3", "-4", "2", "3") + ")";
      case 6:
        return "pow(abs(" + a + ")," + one_of("-0.5", "-1.5", "-2.5", "0.5", "1.5") + ")";
      case 7:
        return "sqrt(abs(" + a + "))";
      case 8:
        return "sqrt(pow(" + a + ",-2))";
      case 9:
        return "exp(min(" + a + ", " + one_of("3", "0", "-1") + "))";
      case 10:
        return "exp(" + one_of("recip(", "-abs(", "0.25*(") + a + "))";
      case 11:
        return "rsqrt((" + a + ")*(" + a + "))";
      case 12:
        return "sqrt(max(" + a + ", " + one_of("0", "0.5") + "))";
      default:
        return "recip(max(" + a + ", " + atom() + "))";
    }
  }
  std::string number(int depth) {
    if (depth == 0 || below(6) == 0) return below(5) == 0 ? one_of("0.5", "-2", "1.25") : atom();
    const auto part = [&] { return number(depth - 1); };
    switch (below(9)) {
      case 0:
        return "abs(" + part() + ")";
      case 1:
        return one_of("max(", "min(") + part() + ", " + one_of("0", "-1", part()) + ")";
      case 2:
        return "(" + condition() + " ? " + part() + " : " + part() + ")";
      case 3:
        return "(" + part() + one_of(" + ", " - ", "*") + part() + ")";
      case 4:
        return "-(" + part() + ")";
      default:
        return function(depth - 1);
    }
  }

  std::vector<std::string> names_{"x", "y", "p", "q"};
};

/// Numbers of either sign: most between 0.01 and 100, in some kernels far beyond.
Data random_numbers(std::uint64_t seed, std::size_t targets, std::size_t sources) {
  std::mt19937_64 random(seed);
  const double decades = seed % 8 == 5 ? 25 : seed % 8 == 6 ? 9 : 2;
  std::uniform_real_distribution<double> exponent(-decades, decades);
  Data data;
  for (const std::string name : {"x", "y", "p", "q"}) {
    for (std::size_t i = 0; i < (name < "p" || name > "q" ? targets : sources); ++i) {
      const double magnitude = i == 0 ? static_cast<double>(1 + random() % 3)  // often equal
                                      : std::pow(10.0, exponent(random));
      data[name].push_back(random() % 2 == 0 ? magnitude : -magnitude);
    }
  }
  return data;
}

/// Whether a kernel was refused because an expression of constants is infinite.
bool is_infinite(const CompileResult& result) {
  return !result.ok() && std::ranges::any_of(result.diagnostics.list,
                                             [](const Diagnostic& d) { return d.code == 7019; });
}

/// The result for one target; none if, with the rounding errors, a condition is undecided or the
/// error unbounded.
std::optional<Bounded> bound_of(const kc::Graph& graph, const Data& data, std::size_t target) {
  Bounded::undecided = false;
  Bounded sum;
  kc::InputValues<Bounded> inputs(graph.variables.size());
  for (std::size_t s = 0; s < data.at("p").size(); ++s) {
    for (std::size_t v = 0; v < inputs.size(); ++v) {
      const kc::GraphVariable& x = graph.variables[v];
      if (x.kind == VarKind::Result) continue;
      inputs[v] = {Bounded::input(data.at(x.name)[x.kind == VarKind::Source ? s : target])};
    }
    for (const auto& term : kc::evaluate<Bounded>(graph, inputs)) {
      if (term.counts) sum += term.value;
    }
  }
  if (Bounded::undecided || !std::isfinite(sum.error) || !std::isfinite(sum.value)) return {};
  return sum;
}

/// Engines that round alike.
struct Engines {
  Rounding of_shorts, of_longs;
  std::vector<std::string> names;
};

/// `exact`: also those that compute as the chip does.
std::vector<Engines> engines(bool exact) {
  // Products truncate their factors to 25 or 50 bits; functions of longs are accurate to 1e-14.
  Engines numbers{{0, 0x1p-24}, {0, 0x1p-48}, {}};
  Engines floats{{0x1p-24, 0x1p-23}, {0x1p-24, 0x1p-23}, {}};
  if (exact) numbers.names.emplace_back("reference");
  for (const Isa isa : host_isas()) {
    const std::string name = ",isa=" + std::string(isa_name(isa));
    if (exact) numbers.names.push_back("vector" + name);
    numbers.names.push_back("native" + name);
    floats.names.push_back("native-float" + name);
  }
  return {numbers, floats};
}

struct Checked {
  std::uint64_t values = 0, bounded = 0;
};

/// Compares the results of a random kernel of each seed for so many targets and sources.
Checked check_random_kernels(std::uint64_t first_seed, std::uint64_t cases, bool exact,
                             std::size_t targets, std::size_t sources) {
  Checked checked;
  auto& [values, bounded] = checked;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    const std::string text = Author(seed).write();
    const Data data = random_numbers(seed, targets, sources);
    CAPTURE(seed, text);
    CompileOptions options;
    options.effort = 0;
    const CompileResult made = compile_kernel(text, "test.gdk", options);
    if (is_infinite(made)) continue;
    INFO(made.diagnostics.render());
    REQUIRE(made.ok());
    const kc::Graph graph = graph_of(text);
    const Kernel kernel(*made.program);
    for (const Engines& alike : engines(exact)) {
      Bounded::rounding = text.starts_with("precision long") ? alike.of_longs : alike.of_shorts;
      std::vector<std::optional<Bounded>> bounds;
      for (std::size_t t = 0; t < targets; ++t) bounds.push_back(bound_of(graph, data, t));
      for (const std::string& engine : alike.names) {
        const Data got = run(kernel, data, targets, sources, engine);
        for (std::size_t t = 0; t < targets; ++t) {
          ++values;
          const auto& e = bounds[t];
          if (!e) continue;
          ++bounded;
          const double value = got.at("f")[t];
          INFO(engine << ", target " << t << ": " << value << " instead of "
                      << static_cast<double>(e->value) << " with an error of at most "
                      << static_cast<double>(e->error));
          CHECK(std::fabs(value - e->value) <= e->error + 1e-250L);
        }
      }
    }
  }
  return checked;
}

}  // namespace

TEST_CASE("random kernels of numbers of either sign agree with long doubles") {
  const auto [values, bounded] =
      check_random_kernels(test::first_seed(), test::test_iterations(40), true, 6, 6);
  CAPTURE(values, bounded);
  CHECK(2 * bounded > values);
}

TEST_CASE("random kernels of numbers of either sign agree with long doubles for few targets") {
  // So many sources that lanes divide them.
  const std::uint64_t cases = test::test_iterations(15);
  std::uint64_t all = 0, bounded = 0;
  for (std::uint64_t k = 0; k < cases; ++k) {
    const Checked checked = check_random_kernels(test::first_seed() + 1000 + k, 1, false, 1 + k % 3,
                                                 2100 + k * 577 % 2100);
    all += checked.values;
    bounded += checked.bounded;
  }
  CAPTURE(all, bounded);
  CHECK(4 * bounded > all);
}

}  // namespace gdr::test
