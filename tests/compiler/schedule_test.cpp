// The modulo scheduler: lower bounds, quality of the loops without hints, determinism.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "compiler/codegen_support.hpp"

namespace gdr::test {
namespace {

/// The text of a kernel of the library.
std::string library_text(const std::string& name) {
  std::ifstream file(std::filesystem::path(GDR_SOURCE_DIR) / "kernels/particle" / (name + ".gdk"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE(!text.empty());
  return text;
}

/// A kernel whose loop is a chain of `n` sums of products.
std::string chain(int n) {
  std::string text = "VARI x, y; VARJ u, v; VARF f;\na = u - x;\nb = v - y;\nt0 = a*b;\n";
  for (int i = 1; i < n; ++i)
    text += "t" + std::to_string(i) + " = t" + std::to_string(i - 1) + "*" + (i % 2 ? "a" : "b") +
            " + " + (i % 3 ? "b" : "a") + ";\n";
  return text + "f += t" + std::to_string(n - 1) + ";\n";
}

}  // namespace

TEST_CASE("kernels of the library get short loops at default effort, without hints in the text") {
  const std::map<std::string, double> most{
      {"gravity_potential", 22}, {"lennard_jones", 24}, {"gravity_jerk", 38}, {"morse", 53}};
  for (const auto& [name, clocks] : most) {
    INFO(name);
    const CompileResult r = compile_kernel(library_text(name), name);
    REQUIRE(r.ok());
    CHECK(r.pipelined);
    CHECK(r.program->clocks_per_interaction() <= clocks);
    CHECK(r.initiation_interval >= r.least_interval);
  }
}

TEST_CASE("the initiation interval reaches its lower bound where only one unit is busy") {
  // Four reads and three writes for each source, of which an instruction has six.
  const CompileResult r = compiled("VARI x; VARJ u; VARF f;\nf += x*u;\n", 2);
  CHECK(r.initiation_interval == 2);
  CHECK(r.least_interval == 2);
  // Four products of parameters and a source, and four sums.
  const CompileResult four = compiled(
      "CONST a, b, c, d; VARI x; VARJ u; VARF f, g, h, k;\ne = u - x;\nf += a*e; g += b*e; h += "
      "c*e; k += d*e;\n",
      2);
  CHECK(four.least_interval == 5);
  CHECK(four.initiation_interval <= 6);
}

TEST_CASE("the report names the lower bound and its reason") {
  const CompileResult r = compiled(chain(8), 1);
  CHECK(std::regex_search(
      r.report,
      std::regex("initiation interval: \\d+ instructions, lower bound \\d+ \\([a-z ]+\\)")));
}

TEST_CASE("chains of operations of any length are pipelined") {
  for (const int n : {2, 5, 12, 25, 40}) {
    INFO(n);
    const CompileResult r = compiled(chain(n), 0);
    REQUIRE(r.ok());
    CHECK(r.pipelined);
    CHECK(r.initiation_interval < 1.6 * r.least_interval + 2);
  }
}

TEST_CASE("a higher effort never gives a longer loop") {
  const std::string text = library_text("lennard_jones_mixed");
  unsigned before = 1000;
  for (const unsigned effort : {0U, 1U, 2U}) {
    const CompileResult r = compiled(text, effort);
    CHECK(r.initiation_interval <= before);
    before = r.initiation_interval;
  }
}

TEST_CASE("progress of a compilation grows from 0 to 1") {
  CompileOptions options;
  options.effort = 1;
  std::vector<double> seen;
  options.progress = [&](double share) { seen.push_back(share); };
  REQUIRE(compile_kernel(library_text("lennard_jones"), "lennard_jones", options).ok());
  REQUIRE(seen.size() > 2);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.front() >= 0);
  CHECK(seen.back() <= 1);
}

TEST_CASE("without pipelining a kernel of a thousand operations compiles at once") {
  CompileOptions options;
  options.pipeline = false;
  const CompileResult r = compile_kernel(chain(500), "chain", options);
  REQUIRE(r.ok());
  CHECK_FALSE(r.pipelined);
  CHECK(r.remarks.empty());
  CHECK(r.initiation_interval >= r.least_interval);
  check(chain(12), *compile_kernel(chain(12), "chain", options).program,
        {{"x", {0.1, 0.2}}, {"y", {0.3, 0.1}}, {"u", {0.5, 0.7, 0.25}}, {"v", {0.9, 0.4, 0.6}}}, 2,
        3, 1e-5);
}

}  // namespace gdr::test
