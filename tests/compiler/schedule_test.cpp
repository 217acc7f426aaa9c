// The modulo scheduler: lower bounds, quality of the loops without hints, determinism.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "compiler/codegen_support.hpp"
#include "kernels/compiler/codegen.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"

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
    CHECK(r.initiation_interval >= r.min_interval);
  }
}

TEST_CASE("the initiation interval reaches its lower bound where only one unit is busy") {
  // Four reads and three writes for each source, of which an instruction has six.
  const CompileResult r = compiled("VARI x; VARJ u; VARF f;\nf += x*u;\n", 2);
  CHECK(r.initiation_interval == 2);
  CHECK(r.min_interval == 2);
  // Four products of parameters and a source, and four sums.
  const CompileResult four = compiled(
      "CONST a, b, c, d; VARI x; VARJ u; VARF f, g, h, k;\ne = u - x;\nf += a*e; g += b*e; h += "
      "c*e; k += d*e;\n",
      2);
  CHECK(four.min_interval == 5);
  CHECK(four.initiation_interval <= 6);
}

TEST_CASE("the report names the lower bound and its reason") {
  const CompileResult r = compiled(chain(8), 1);
  INFO(r.report);
  const std::string line = fmt::format("initiation interval: {} instructions, lower bound {} (",
                                       r.initiation_interval, r.min_interval);
  const std::size_t at = r.report.find(line);
  REQUIRE(at != std::string::npos);
  const std::size_t reason = at + line.size(), end = r.report.find(')', reason);
  CHECK(end > reason);
  CHECK(r.report.find_first_not_of("abcdefghijklmnopqrstuvwxyz ", reason) == end);
}

TEST_CASE("chains of operations of any length are pipelined") {
  for (const int n : {2, 5, 12, 25, 40}) {
    INFO(n);
    const CompileResult r = compiled(chain(n), 0);
    REQUIRE(r.ok());
    CHECK(r.pipelined);
    CHECK(r.initiation_interval < 1.6 * r.min_interval + 2);
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

TEST_CASE("the resources of a partial schedule do not depend on the order of its changes") {
  for (const std::string name : {"gravity_nearest", "sph_force", "lennard_jones", "gravity_snap"}) {
    INFO(name);
    CompileOptions options;
    options.effort = 0;
    kc::CompiledKernel kernel;
    kc::generate_code(graph_of(library_text(name)), options, {}, kernel);
    const std::size_t values = kernel.loop.values.size();
    constexpr unsigned ii = 40;
    kc::PartialSchedule changed(kernel.problem, ii);
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) { return random() % n; };
    std::vector<kc::Placement> others;
    for (int k = 0; k < 20000; ++k) {
      const std::size_t op = below(changed.op_count());
      const auto v = static_cast<kc::ValueId>(below(values));
      if (below(3) == 0 && changed.placement(v).storage != kc::StorageClass::Block) {
        changed.alternatives(v, others);
        if (!others.empty()) changed.set_placement(v, others[below(others.size())]);
      } else if (changed.is_scheduled(op) && below(2) == 0) {
        changed.remove(op);
      } else if (const auto time = static_cast<int>(below(3 * ii));
                 changed.is_active(op) &&
                 changed.occupant(changed.row_of(time), changed.slot_of(op)) == kc::none) {
        changed.place(op, time);
      }
      if (k % 500 != 0) continue;
      // The same state, reached on the shortest way.
      kc::PartialSchedule fresh(kernel.problem, ii);
      for (std::size_t i = 0; i < values; ++i) {
        const auto id = static_cast<kc::ValueId>(i);
        if (changed.placement(id).storage != kc::StorageClass::Block)
          fresh.set_placement(id, changed.placement(id));
      }
      for (std::size_t i = 0; i < changed.op_count(); ++i)
        if (changed.is_scheduled(i)) fresh.place(i, changed.time(i));
      REQUIRE(changed.violations() == fresh.violations());
      REQUIRE(changed.register_excess() == fresh.register_excess());
      REQUIRE(changed.register_load() == fresh.register_load());
      int sum = 0;
      for (std::size_t row = 0; row < ii; ++row) sum += changed.row_violations(row);
      CHECK(changed.violations() >= sum);
    }
  }
}

TEST_CASE("the least effort takes the first schedule, of which others are improvements") {
  CompileOptions options;
  options.effort = 0;
  double last = -1;
  options.progress = [&](double share) { last = share; };
  const CompileResult r = compile_kernel(library_text("lennard_jones"), "lennard_jones", options);
  REQUIRE(r.ok());
  CHECK(r.pipelined);
  CHECK(last >= 0);
  CHECK(last < 0.5);  // of the time in which there must be a schedule
  CHECK(r.initiation_interval > compiled(library_text("lennard_jones"), 1).initiation_interval);
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
  CHECK(r.initiation_interval >= r.min_interval);
  check(chain(12), *compile_kernel(chain(12), "chain", options).program,
        {{"x", {0.1, 0.2}}, {"y", {0.3, 0.1}}, {"u", {0.5, 0.7, 0.25}}, {"v", {0.9, 0.4, 0.6}}}, 2,
        3, 1e-5);
}

}  // namespace gdr::test
