// Kernels that are compiled from text search for a schedule only where something needs it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/chemistry/kernel_text.hpp"
#include "support/catch.hpp"
#include "support/environment_variable.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

namespace fs = std::filesystem;

/// About 60 operations in the loop. `seed`: a constant of the text.
std::string sixty_operations(int seed = 1) {
  std::string text =
      "kernel sixty; CONST eps2; VARI x, y, z; VARJ xj, yj, zj, m; VARF ax, ay, az, pot;\n"
      "dx = xj - x; dy = yj - y; dz = zj - z;\n"
      "r2 = dx*dx + dy*dy + dz*dz + eps2; ri = rsqrt(r2); w = m*ri;\n";
  for (int k = 0; k < 10; ++k)
    text += "w = w*(dx*" + std::to_string(k + seed) + ".5 + dy) + ri*dz;\n";
  return text + "f = w*ri*ri; ax += f*dx; ay += f*dy; az += f*dz; pot -= w;\n";
}

const std::string gravity =
    "kernel law; CONST eps2; VARI x, y, z; VARJ xj, yj, zj, m; VARF ax, ay, az, pot;\n"
    "dx = xj - x; dy = yj - y; dz = zj - z;\n"
    "ri = rsqrt(dx*dx + dy*dy + dz*dz + eps2);\n"
    "mr = m*ri; f = mr*ri*ri; ax += f*dx; ay += f*dy; az += f*dz; pot -= mr;\n";

Device open(const std::string& engine) {
  return Device::open("emulator:chips=2,blocks=2,pes=4,threads=1,engine=" + engine);
}

/// The results of a job of `kernel` whose variables all have some numbers.
std::vector<std::vector<double>> run_schedule(Device& device, const Kernel& kernel) {
  constexpr std::size_t targets = 24, sources = 40;
  Job job = device.job(kernel);
  std::vector<NamedInput> i, j;
  std::vector<NamedResult> out;
  std::vector<std::vector<double>> numbers(kernel.variables().size()), results;
  results.reserve(numbers.size());
  std::vector<std::int64_t> ids(sources);
  std::iota(ids.begin(), ids.end(), 0);
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    const KernelVariable& variable = kernel.variables()[v];
    if (variable.role == Role::Param) {
      job.set(variable.name, 0.01);
    } else if (variable.role == Role::Result) {
      results.emplace_back(targets);
      out.push_back({variable.name, MutableArray(results.back())});
    } else if (variable.type == HostNumber::I64) {
      (variable.role == Role::Source ? j : i).push_back({variable.name, ConstArray(ids.data())});
    } else {
      const bool source = variable.role == Role::Source;
      for (std::size_t k = 0; k < (source ? sources : targets); ++k)
        numbers[v].push_back(0.1 + static_cast<double>((k * 7 + v * 13) % 31) / 31);
      (source ? j : i).push_back({variable.name, ConstArray(numbers[v])});
    }
  }
  job.targets(targets, i);
  job.sources(sources, j);
  job.run(out);
  return results;
}

TEST_CASE("compilation and the first job search for no schedule on engines without schedules") {
  // Each search leaves its result in the cache.
  const TemporaryFolder cache;
  const EnvironmentVariable variable("GDR_CACHE_DIR", cache.path().c_str());
  const Kernel kernel = Kernel::compile(sixty_operations());
  for (const std::string engine : {"native", "native-float"}) {
    Device device = open(engine);
    run_schedule(device, kernel);
  }
  Kernel::compile(chemistry::coulomb_kernel(2, 2, 0, 4, chemistry::Accuracy::Long));
  CHECK(cache.names().empty());
  CHECK_FALSE(kernel.has_schedule());
  kernel.scheduled();
  CHECK(cache.names().size() == 1);
}

namespace {

Program without_longs(Program program) {
  program.in_longs.clear();
  return program;
}

}  // namespace

TEST_CASE("exact engines execute the scheduled program, native ones the unscheduled one") {
  const Kernel kernel = Kernel::compile(gravity, "law", 0);
  CompileOptions options;
  options.effort = 0;
  const Program scheduled = *compile_kernel(gravity, "law", options).program;
  options.pipeline = false;
  const Program quick = *compile_kernel(gravity, "law", options).program;
  REQUIRE(scheduled.clocks_per_interaction() < quick.clocks_per_interaction());
  CHECK(kernel.unscheduled().program() == quick);
  CHECK(kernel.scheduled().program() == scheduled);
  CHECK(kernel.program() == scheduled);
  CHECK(kernel.clocks_per_interaction() == scheduled.clocks_per_interaction());
  CHECK(kernel.flops_per_interaction() == scheduled.flops);
  CHECK(kernel.program_object() == Kernel(scheduled).object());
  for (const std::string engine :
       {"reference", "vector", "native", "native-mixed", "native-float", "native-fast"}) {
    const bool native = engine.starts_with("native");
    const Program& expected = native ? quick : scheduled;
    Device device = open(engine), other = open(engine);
    INFO(engine);
    // Engines among doubles get the same kernel in longs with it.
    const Program prepared = device.prepare(kernel).program();
    CHECK(prepared.in_longs.size() == (engine == "native" ? 1 : 0));
    CHECK(without_longs(prepared) == expected);
    CHECK(device.target_slots(kernel) == other.target_slots(Kernel(expected)));
    // The same bits and the same statistics as those of the program itself.
    CHECK(run_schedule(device, kernel) == run_schedule(other, Kernel(prepared)));
    CHECK(device.statistics().chip_clocks == other.statistics().chip_clocks);
    CHECK(device.statistics().predicted_seconds == other.statistics().predicted_seconds);
    // A schedule on request: the chip's clocks on every engine.
    Device third = open(engine), fourth = open(engine);
    CHECK(run_schedule(third, kernel.scheduled()) ==
          run_schedule(fourth, Kernel(third.prepare(kernel.scheduled()).program())));
    CHECK(third.statistics().chip_clocks == fourth.statistics().chip_clocks);
  }
}

TEST_CASE("kernels of the library are compiled from their text for engines among floats") {
  const std::vector<std::string> in_floats{
      "gravity_potential",     "gravity_long",      "gravity_snap", "gravity_softened",
      "gravity_softened_long", "gravity_jerk_long", "lennard_jones"};
  for (const std::string& name : in_floats) {
    INFO(name);
    const Kernel kernel = Kernel::builtin(name);
    Device doubles = open("native"), floats = open("native-float");
    CHECK(without_longs(doubles.prepare(kernel).program()) == kernel.program());
    const Kernel text = floats.prepare(kernel);
    CHECK(text.program() == kernel.unscheduled().program());
    CHECK(text.program() != kernel.program());
    CHECK(floats.prepare(kernel.scheduled()).program() == kernel.program());
    const auto got = run_schedule(floats, kernel), expected = run_schedule(doubles, kernel);
    CHECK(floats.statistics().fallback_reason.empty());
    for (std::size_t r = 0; r < expected.size(); ++r) {
      double largest = 0;
      for (const double value : expected[r]) largest = std::max(largest, std::abs(value));
      for (std::size_t k = 0; k < expected[r].size(); ++k)
        CHECK(std::abs(got[r][k] - expected[r][k]) <= 1e-4 * largest);
    }
  }
  // Written in assembly: there is no other program.
  const Kernel gravity_kernel = Kernel::builtin("gravity");
  CHECK(gravity_kernel.unscheduled().program() == gravity_kernel.program());
  // Host names stay.
  const Kernel named = Kernel::builtin("lennard_jones").with_host_names({{"xi", "x"}});
  CHECK(named.unscheduled().host_names() == named.host_names());
}

TEST_CASE("a kernel has the same interface with and without its schedule") {
  for (const char* folder : {"kernels/particle", "examples/kernels"}) {
    for (const auto& file : fs::directory_iterator(fs::path(GDR_SOURCE_DIR) / folder)) {
      if (file.path().extension() != ".gdk") continue;
      INFO(file.path().string());
      const KernelText text = KernelText::read(file.path().string());
      CompileOptions options;
      options.effort = 0;
      const CompileResult first = text.compile(options);
      options.pipeline = false;
      const CompileResult second = text.compile(options);
      REQUIRE(first.ok());
      REQUIRE(second.ok());
      const Kernel scheduled(*first.program), quick(*second.program);
      CHECK(scheduled.name() == quick.name());
      CHECK(scheduled.host_names() == quick.host_names());
      CHECK(scheduled.flops_per_interaction() == quick.flops_per_interaction());
      REQUIRE(scheduled.variables().size() == quick.variables().size());
      for (std::size_t v = 0; v < quick.variables().size(); ++v) {
        const KernelVariable &a = scheduled.variables()[v], &b = quick.variables()[v];
        CHECK(a.name == b.name);
        CHECK(a.role == b.role);
        CHECK(a.type == b.type);
        CHECK(a.conversion == b.conversion);
        CHECK(a.reduction == b.reduction);
        CHECK(a.host_bytes == b.host_bytes);
      }
      REQUIRE(scheduled.arrays().size() == quick.arrays().size());
      for (std::size_t a = 0; a < quick.arrays().size(); ++a) {
        CHECK(scheduled.arrays()[a].name == quick.arrays()[a].name);
        CHECK(scheduled.arrays()[a].first == quick.arrays()[a].first);
        CHECK(scheduled.arrays()[a].sizes == quick.arrays()[a].sizes);
      }
    }
  }
}

TEST_CASE("errors of a text are reported at once, also those of the chip's capacity") {
  expect_error(ErrorCategory::Program, {"GDR", "undefined"},
               [] { Kernel::compile("VARI x; VARF f; f += undefined;"); });
  expect_error(ErrorCategory::Program, {"too long", "at most"}, [] {
    Kernel::compile(
        "VARI int i; VARJ int j; VARF list near[9999]; skip if (i == j); "
        "near append= j;",
        "lists", 0);
  });
}

TEST_CASE("a kernel keeps the text that it was loaded from") {
  const TemporaryFolder folder;
  folder.make("part.gdk", "VARI x, y, z;\n");
  std::string text = gravity;
  text.replace(text.find("VARI x, y, z;"), 13, "include \"part.gdk\";");
  const std::string path = folder.make("law.gdk", text);
  const Kernel kernel = Kernel::load(path);
  fs::remove(folder.file("part.gdk"));
  fs::remove(path);
  CHECK(kernel.clocks_per_interaction() > 0);
  CHECK(kernel.clocks_per_interaction() < kernel.unscheduled().clocks_per_interaction());
}

TEST_CASE("threads that need a schedule at the same time get the same one") {
  const Kernel kernel = Kernel::compile(gravity, "law", 0);
  std::atomic<int> searches = 0;
  std::vector<const Program*> found(6);
  {
    std::vector<std::jthread> threads;
    for (const Program*& program : found)
      threads.emplace_back([&, copy = kernel] {
        bool first = true;
        copy.scheduled({}, [&](double) {
          if (first) ++searches;
          first = false;
        });
        program = &copy.program();
      });
  }
  CHECK(searches == 1);
  for (const Program* program : found) CHECK(program == found.front());
}

TEST_CASE("a cancelled search can be repeated") {
  const Kernel kernel = Kernel::compile(gravity, "law", 1);
  std::stop_source stop;
  double last = -1;
  const auto cancel = [&](double share) {
    CHECK(share >= 0);
    CHECK(share <= 1);
    last = share;
    if (share > 0.2) stop.request_stop();
  };
  expect_error(ErrorCategory::Device, {}, [&] { kernel.scheduled(stop.get_token(), cancel); });
  CHECK(last > 0.2);
  Device device = open("vector");
  expect_error(ErrorCategory::Device, {},
               [&] { device.prepare(kernel, stop.get_token(), cancel); });
  CHECK(kernel.clocks_per_interaction() < kernel.unscheduled().clocks_per_interaction());
  // Nothing is left to cancel.
  CHECK(&kernel.scheduled(stop.get_token()).program() == &kernel.program());
  CHECK(kernel.unscheduled().scheduled(stop.get_token()).program().name == "law");
}

TEST_CASE("kernels that are made of another one search with its effort") {
  const Kernel law = Kernel::compile(gravity, "law", 0);
  const Program expected = Kernel::compile(law.adjoint_text({"x"}), "law_adjoint", 0).program();
  CHECK(law.adjoint({"x"}).program() == expected);
  CHECK(law.with_host_names({{"m", "mass"}}).adjoint({"x"}).program() == expected);

  std::string text = gravity;
  text.replace(text.find("VARI x, y, z;"), 13, "VARI x, y, z as pos;");
  text.replace(text.find("VARJ xj, yj, zj, m;"), 19, "VARJ xj, yj, zj as pos; VARJ m;");
  CompileOptions options;
  options.effort = 0;
  const CompileResult cut =
      KernelText(text, "law").with_cutoff({{"x", "y", "z"}, {"xj", "yj", "zj"}}).compile(options);
  REQUIRE(cut.ok());
  CHECK(Kernel::compile(text, "law", 0).with_cutoff().program() == *cut.program);
}

TEST_CASE("a kernel with other host names is scheduled later, too") {
  const Kernel kernel = Kernel::compile(gravity, "law", 0).with_host_names({{"m", "mass"}});
  CHECK(kernel.host_names().front().second == "mass");
  CHECK(kernel.unscheduled().host_names() == kernel.host_names());
  CHECK(kernel.scheduled().host_names() == kernel.host_names());
  CHECK(kernel.clocks_per_interaction() < kernel.unscheduled().clocks_per_interaction());
}

}  // namespace
}  // namespace gdr::test
