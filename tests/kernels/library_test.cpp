// Every kernel of the library on pairs of particles, on every engine, against direct sums in long
// double: accuracy, few and odd numbers of particles, no particles, coincident particles.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "bench/laws/laws.hpp"
#include "emulator/engine/native/run/packed_plan.hpp"
#include "emulator/host/hash.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::bench;

namespace {

// A machine of few PEs, so that the reference engine is quick and jobs exceed its capacities.
const std::string small = ",threads=1,chips=2,blocks=3,pes=4";

/// Checks that all errors are finite and below `limit`.
void check_errors(const Law& law, const Columns& found, const Columns& right, double limit) {
  for (const LawError& e : compare(law, found, right)) {
    INFO(law.kernel << ", " << e.quantity << ": rms " << e.rms << ", largest " << e.largest);
    CHECK(e.rms <= limit);
    CHECK(e.largest <= 100 * limit);
  }
}

void check(const Law& law, const std::string& device, const Sample& targets, const Sample& sources,
           double limit) {
  INFO(device << ", " << targets.n << " targets, " << sources.n << " sources");
  const Kernel kernel = Kernel::builtin(law.kernel);
  Device open = Device::open(device);
  check_errors(law, run_law(open, kernel, law, targets, sources),
               direct_law(kernel, law, targets, sources), limit);
}

/// The sample with ids that no source has.
Sample strangers(Sample sample) {
  for (double& id : sample.columns["id"]) id = -1;
  return sample;
}

}  // namespace

TEST_CASE("every pair kernel has a reference law") {
  std::set<std::string> with_law;
  for (const Law& law : laws()) with_law.insert(std::string(law.kernel));
  for (const std::string& name : Kernel::builtin_names()) {
    INFO(name);
    CHECK(with_law.count(name) == 1);
  }
}

TEST_CASE("every kernel takes the recorded number of clocks per interaction") {
  const std::map<std::string, double> recorded = {{"buckingham", 50},
                                                  {"coulomb", 18},
                                                  {"coulomb_ewald", 57},
                                                  {"gauss_sum", 20},
                                                  {"gravity", 19},
                                                  {"gravity_1pn", 48},
                                                  {"gravity_hermite", 79},
                                                  {"gravity_hermite_neighbours", 81},
                                                  {"gravity_jerk", 33},
                                                  {"gravity_jerk_long", 54},
                                                  {"gravity_jerk_moving", 95},
                                                  {"gravity_jerk_neighbours", 77},
                                                  {"gravity_long", 32},
                                                  {"gravity_nearest", 43},
                                                  {"gravity_neighbours", 45},
                                                  {"gravity_potential", 19},
                                                  {"gravity_regular", 81},
                                                  {"gravity_snap", 67},
                                                  {"gravity_softened", 19},
                                                  {"gravity_softened_long", 32},
                                                  {"lennard_jones", 22},
                                                  {"lennard_jones_mixed", 23},
                                                  {"morse", 50},
                                                  {"sph_density", 27},
                                                  {"sph_force", 63}};
  std::map<std::string, double> clocks;
  for (const std::string& name : Kernel::builtin_names())
    clocks[name] = Kernel::builtin(name).clocks_per_interaction();
  CHECK(clocks == recorded);
}

TEST_CASE("the compiled kernels belong to the kernel texts") {
  const auto read = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::filesystem::path kernels = std::filesystem::path(GDR_SOURCE_DIR) / "kernels";
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kernels / "particle")) {
    if (entry.path().extension() != ".gdk") continue;
    ++found;
    const std::string name = entry.path().stem().string();
    INFO(name << ": write kernels/compiled anew with `make kernels`");
    const std::string assembly = read(kernels / "compiled" / (name + ".gds"));
    CHECK(assembly.starts_with(fmt::format("# Compiled from {}.gdk, {:016x}.\n", name,
                                           Hash().add(read(entry.path())).value())));
  }
  CHECK(found == 24);
}

TEST_CASE("kernels are accurate for many particles on vector and native engine") {
  for (const Law& law : laws()) {
    const Sample sample = law.sample(500, 3);
    check(law, "emulator:engine=vector", sample, sample, law.limit);
    check(law, "emulator:engine=native", sample, sample, law.native_limit);
  }
}

TEST_CASE("kernels are accurate for few particles on every engine") {
  for (const Law& law : laws()) {
    const Sample sample = law.sample(31, 5);
    for (const char* engine : {"reference", "vector", "native"}) {
      const std::string device = "emulator:engine=" + std::string(engine) + small;
      const double limit = 4 * (engine == std::string("native") ? law.native_limit : law.limit);
      for (const std::size_t n : {1, 2, 3, 4, 5, 7, 31})
        check(law, device, strangers(sample), sample.first(n), limit);
      check(law, device, sample.first(1), sample, limit);
    }
  }
}

TEST_CASE("kernels are identical on both exact engines and for any number of threads") {
  for (const Law& law : laws()) {
    INFO(law.kernel);
    const Sample sample = law.sample(40, 7);
    const Kernel kernel = Kernel::builtin(law.kernel);
    Device reference = Device::open("emulator:engine=reference" + small);
    Device vector = Device::open("emulator:engine=vector,threads=3,chips=2,blocks=3,pes=4");
    CHECK(run_law(reference, kernel, law, sample, sample) ==
          run_law(vector, kernel, law, sample, sample));
  }
}

TEST_CASE("kernels without sources return initial values") {
  for (const Law& law : laws()) {
    const Sample sample = law.sample(9, 2);
    const Kernel kernel = Kernel::builtin(law.kernel);
    const Columns right = direct_law(kernel, law, sample, sample.first(0));
    for (const char* engine : {"reference", "vector", "native"}) {
      INFO(law.kernel << ", " << engine);
      Device device = Device::open("emulator:engine=" + std::string(engine) + small);
      CHECK(run_law(device, kernel, law, sample, sample.first(0)) == right);
    }
  }
}

TEST_CASE("kernels exclude coincident particles and those beyond the cut-off") {
  for (const Law& law : laws()) {
    Sample sample = law.sample(24, 11);
    Law bare = law;
    for (auto& [name, value] : bare.parameters)
      if (name == "eps2") value = 0;
    for (const char* axis : {"x", "y", "z"}) {
      for (const std::size_t twin : {3, 4, 23})
        sample.columns[axis][twin] = sample.columns[axis][7];
      sample.columns[axis][12] += 1000;  // far outside
    }
    for (const char* engine : {"reference", "vector", "native"}) {
      const double limit = 4 * (engine == std::string("native") ? law.native_limit : law.limit);
      check(bare, "emulator:engine=" + std::string(engine) + small, sample, sample, limit);
    }
  }
}

TEST_CASE("targets of the gravity kernels fill vectors one by one, whatever their elements share") {
  const Geometry geometry;
  for (const char* name : {"gravity_potential", "gravity_jerk", "gravity_jerk_long",
                           "gravity_hermite", "lennard_jones"}) {
    INFO(name);
    const gdr::Kernel kernel = gdr::Kernel::builtin(name);
    const Program& program = kernel.program();
    const native::CompiledProgram compiled(program, geometry, {Isa::Portable});
    const native::PackedPlan plan =
        native::make_packed_plan(compiled, load_program(program, geometry, Isa::Portable));
    CHECK(plan.usable);
    CHECK(plan.folded);
  }
}
