// Few targets with many sources on a GPU: threads share the iterations of a target. Without a
// device these tests are skipped; the processor's (pocl) will do.
#include <cstdlib>
#include <set>
#include <string>

#include "bench/laws/laws.hpp"
#include "kernels/test_device.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"

using namespace gdr;
using namespace gdr::bench;

TEST_CASE("threads of a GPU share the sources of few targets, as accurate as the native engine") {
  if (!test::use_gpu_for_all()) return;
  constexpr std::size_t sources = 3000;
  for (const Law& law : laws()) {
    // A compiler of OpenCL takes seconds for some of them.
    const std::set<std::string_view> usual{"gravity", "gravity_jerk", "coulomb", "lennard_jones"};
    if (std::getenv("GDR_TEST_GPU") == nullptr && !usual.contains(law.kernel)) continue;
    const Kernel kernel = Kernel::builtin(law.kernel);
    for (const std::size_t targets : {1U, 48U}) {
      INFO(law.kernel << ", " << targets);
      const Sample few = law.sample(targets, 3), all = law.sample(sources, 4);
      Device device = Device::open("emulator:engine=gpu");
      const Columns found = run_law(device, kernel, law, few, all);
      for (const LawError& e : compare(law, found, direct_law(kernel, law, few, all))) {
        INFO(e.quantity << ": rms " << e.rms << ", largest " << e.largest);
        CHECK(e.rms <= law.native_limit);
      }
      // Floats lose as much as on the processor, but for roundings of another order.
      Device floats = Device::open("emulator:engine=gpu-float"),
             host = Device::open("emulator:engine=native-float");
      const Columns right = direct_law(kernel, law, few, all);
      const auto of_gpu = compare(law, run_law(floats, kernel, law, few, all), right);
      const auto of_host = compare(law, run_law(host, kernel, law, few, all), right);
      for (std::size_t q = 0; q < of_gpu.size(); ++q) {
        INFO(of_gpu[q].quantity << ": rms " << of_gpu[q].rms << ", host " << of_host[q].rms);
        CHECK(of_gpu[q].rms <= 2 * of_host[q].rms + 5e-7);
      }
    }
  }
}

TEST_CASE("the sums of few targets on a GPU depend neither on their number nor on the cards") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(2);
  const Law& law = law_of("gravity");
  const Kernel kernel = Kernel::builtin("gravity");
  const Sample sources = law.sample(20000, 3);
  for (const std::string engine : {"gpu", "gpu-float"}) {
    INFO(engine);
    Device one = Device::open("emulator:engine=" + engine + ":0"),
           two = Device::open("emulator:engine=" + engine + ":0+1,threads=3");
    const Columns all = run_law(one, kernel, law, sources.first(100), sources);
    CHECK(run_law(two, kernel, law, sources.first(100), sources) == all);
    for (const std::size_t targets : {1U, 5U, 33U}) {
      const Columns few = run_law(two, kernel, law, sources.first(targets), sources);
      for (std::size_t k = 0; k < few.size(); ++k)
        CHECK(std::equal(few[k].begin(), few[k].end(), all[k].begin()));
    }
  }
}

TEST_CASE("few targets with many sources take two launches on a GPU") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(1);
  const Law& law = law_of("gravity");
  const Kernel kernel = Kernel::builtin("gravity");
  const Sample sources = law.sample(50000, 3);
  Device device = Device::open("emulator:engine=gpu");
  run_law(device, kernel, law, sources.first(32), sources);
  CHECK(gpus.devices[0]->launches() == 2);
}

TEST_CASE("few targets whose iterations cannot be shared run on the processor") {
  if (!test::has_gpu()) return;
  for (const char* limit : {"100", "0"}) {
    const TestGpus gpus(1);
    setenv("GDR_GPU_PAIRS", limit, 1);
    const Law& law = law_of("gravity_jerk_neighbours");
    const Sample sources = law.sample(3000, 3);
    Device device = Device::open("emulator:engine=gpu");
    run_law(device, Kernel::builtin(law.kernel), law, sources.first(20), sources);
    CHECK((device.statistics().gpu_runs > 0) == (std::string(limit) == "0"));
  }
}

TEST_CASE("small calculations run on the GPU or on the processor by their times") {
  if (!test::has_gpu()) return;
  const Law& law = law_of("gravity");
  const Kernel kernel = Kernel::builtin("gravity");
  const Sample sample = law.sample(1100, 3);
  for (const std::string engine : {"gpu-exact", "gpu"}) {
    INFO(engine);
    const TestGpus gpus(1);
    setenv("GDR_GPU_PAIRS", "measured", 1);
    Device device = Device::open("emulator:partition=targets,engine=" + engine);
    const Columns first = run_law(device, kernel, law, sample, sample);
    Columns last;
    for (int n = 0; n < 10; ++n) last = run_law(device, kernel, law, sample, sample);
    const Statistics s = device.statistics();
    CHECK(s.gpu_runs > 0);
    // The processor was tried, too.
    CHECK(s.gpu_runs < s.fast_runs);
    if (engine == "gpu-exact") CHECK(last == first);
  }
  setenv("GDR_GPU_PAIRS", "0", 1);
}
