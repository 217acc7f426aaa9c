// Every kernel of the library on a GPU: as accurate as on the native engine. Without a device these
// tests are skipped; the processor's (pocl) will do.
#include "support/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "bench/laws/laws.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/host/isa.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::bench;

namespace {

/// Compares with direct sums; returns whether the loop ran on the GPU. If not, the statistics say
/// why.
bool check(const Law& law, const char* engine, double limit) {
  const Sample targets = law.sample(200, 3), sources = law.sample(500, 3);
  const Kernel kernel = Kernel::builtin(law.kernel);
  Device device = Device::open(std::string("emulator:engine=") + engine);
  const Columns found = run_law(device, kernel, law, targets, sources);
  for (const LawError& e : compare(law, found, direct_law(kernel, law, targets, sources))) {
    INFO(law.kernel << ", " << e.quantity << ": rms " << e.rms << ", largest " << e.largest);
    CHECK(e.rms <= limit);
    CHECK(e.largest <= 100 * limit);
  }
  const auto stats =
      make_engine(engine)->prepare(kernel.with_longs().program(), Geometry{})->stats();
  const SectionStats& body = stats[static_cast<unsigned>(Section::Body)];
  INFO(law.kernel << ": " << body.reason);
  CHECK((body.gpu_runs > 0) != body.reason.starts_with("on the processor, not on the GPU: "));
  return body.gpu_runs > 0;
}

}  // namespace

TEST_CASE("all kernels run on a GPU, and are accurate there in doubles") {
  if (!test::use_gpu_for_all()) return;
  for (const Law& law : laws()) {
    INFO(law.kernel);
    CHECK(check(law, "gpu", law.native_limit));
  }
}

TEST_CASE("gpu-exact gives the bits of the engine vector, or says why it runs on the processor") {
  if (!test::use_gpu_for_all()) return;
  // The card proves sums as the processor does with AVX2; with AVX-512 other runs are repeated.
  const std::vector<Isa> isas = host_isas();
  const bool has_avx2 = std::ranges::find(isas, Isa::Avx2) != isas.end();
  const std::string isa = has_avx2 ? ",isa=avx2" : "";
  for (const Law& law : laws()) {
    // A compiler of OpenCL takes seconds for some of them.
    const std::set<std::string_view> usual{"gravity", "gravity_nearest", "coulomb", "sph_density"};
    if (std::getenv("GDR_TEST_GPU") == nullptr && !usual.contains(law.kernel)) continue;
    const Sample targets = law.sample(200, 3), sources = law.sample(500, 3);
    const Kernel kernel = Kernel::builtin(law.kernel);
    Device exact = Device::open("emulator:engine=vector" + isa),
           gpu = Device::open("emulator:engine=gpu-exact" + isa);
    INFO(law.kernel);
    CHECK(run_law(gpu, kernel, law, targets, sources) ==
          run_law(exact, kernel, law, targets, sources));
    // As on the processor, runs that are not exact in doubles are repeated on integers.
    const Statistics s = gpu.statistics();
    INFO(s.fallback_reason);
    CHECK(s.fallback_runs == exact.statistics().fallback_runs);
    CHECK((s.gpu_runs != 0 || !s.fallback_reason.empty()));
  }
}

TEST_CASE("numbers that a GPU cannot prove exact are computed on the processor") {
  if (!test::use_gpu_for_all()) return;
  constexpr std::size_t n = 300;
  const Kernel kernel =
      Kernel::compile("VARI x; VARJ y; VARJ m; VARF f; f += m*(x - y)*(x - y);", "law");
  for (const double unit : {1.0, 1e-45, 1e-120, 1e-200, 1e35, 1e100, 1e150}) {
    INFO(unit);
    std::vector<double> x(n), m(n), exact(n), on_gpu(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = unit * std::sin(static_cast<double>(i));
      m[i] = static_cast<double>(i % 7);
    }
    Statistics statistics;
    for (const char* engine : {"vector", "gpu-exact"}) {
      Device device = Device::open(std::string("emulator:engine=") + engine);
      Job job = device.job(kernel);
      job.sources(n, {{"y", ConstArray(x)}, {"m", ConstArray(m)}});
      job.targets(n, {{"x", ConstArray(x)}});
      job.run({{"f", MutableArray(engine == std::string("vector") ? exact : on_gpu)}});
      statistics = device.statistics();
    }
    CHECK(on_gpu == exact);
    if (unit == 1) CHECK(statistics.gpu_runs > 0);
    CHECK(statistics.compile_seconds > 0);
    if (unit == 1e-120) CHECK(statistics.gpu_runs == 0);
    INFO(statistics.fallback_reason);
    if (unit == 1e-120)
      CHECK(statistics.fallback_reason.find("on the GPU were repeated") != std::string::npos);
  }
}

TEST_CASE("a kernel with a tiny constant has the same bits on gpu-exact") {
  if (!test::use_gpu_for_all()) return;
  constexpr std::size_t n = 100;
  const Kernel kernel =
      Kernel::compile("VARI x; VARJ y; VARF f; f += (x - y)*1e-280*(x - y)*1e280;", "law");
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::ldexp(std::sin(static_cast<double>(i)), -90);
  std::vector<std::vector<double>> sums;
  for (const char* engine : {"vector", "gpu-exact"}) {
    Device device = Device::open(std::string("emulator:engine=") + engine);
    Job job = device.job(kernel);
    job.sources(n, {{"y", ConstArray(x)}});
    job.targets(n, {{"x", ConstArray(x)}});
    sums.emplace_back(n);
    job.run({{"f", MutableArray(sums.back())}});
  }
  CHECK(sums[0] == sums[1]);
}

TEST_CASE("longs with tails run on a GPU") {
  if (!test::use_gpu_for_all()) return;
  const Law& law = *std::ranges::find(laws(), std::string_view("coulomb_ewald"), &Law::kernel);
  const Sample sample = law.sample(100, 3);
  Device device = Device::open("emulator:engine=gpu-exact");
  run_law(device, Kernel::builtin(law.kernel), law, sample, sample);
  CHECK(device.statistics().gpu_runs > 0);
}

TEST_CASE("changed sources are sent to a GPU, on which the others stay") {
  if (!test::use_gpu_for_all()) return;
  constexpr std::size_t n = 1500;
  std::vector<double> x(n), targets(70), sums(70);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i % 37) / 8;
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<double>(i) / 4;
  for (const char* engine : {"gpu", "gpu-float", "gpu-exact"}) {
    INFO(engine);
    Device device = Device::open(std::string("emulator:engine=") + engine);
    Job job = device.job(Kernel::compile("VARI x; VARJ y; VARF f; f += (x - y)*(x - y);", "law"));
    std::vector<double> y = x;
    job.sources(n, {{"y", ConstArray(y)}});
    job.targets(targets.size(), {{"x", ConstArray(targets)}});
    for (const std::size_t changed : {std::size_t{0}, std::size_t{1}, std::size_t{700}, n - 1}) {
      y[changed] += 2;
      job.update_sources(changed, 1, {{"y", ConstArray(&y[changed], sizeof(double))}});
      job.run({{"f", MutableArray(sums)}});
      for (std::size_t i = 0; i < targets.size(); ++i) {
        double right = 0;
        for (const double s : y) right += (targets[i] - s) * (targets[i] - s);
        REQUIRE(std::abs(sums[i] - right) <= 1e-6 * right);
      }
    }
    // Fewer sources, then more than before.
    for (const std::size_t some : {std::size_t{3}, n}) {
      job.sources(some, {{"y", ConstArray(y)}});
      job.run({{"f", MutableArray(sums)}});
      double right = 0;
      for (std::size_t k = 0; k < some; ++k) right += (targets[9] - y[k]) * (targets[9] - y[k]);
      REQUIRE(std::abs(sums[9] - right) <= 1e-6 * right);
    }
  }
}

TEST_CASE("a result on a GPU does not depend on the number of targets, boards and threads") {
  if (!test::use_gpu_for_all()) return;
  const Law& law = *std::ranges::find(laws(), std::string_view("gravity"), &Law::kernel);
  const Kernel kernel = Kernel::builtin("gravity");
  const Sample sources = law.sample(300, 3);
  Device one = Device::open("emulator:engine=gpu,threads=1"),
         two = Device::open("emulator:engine=gpu,boards=2,threads=2");
  const Columns all = run_law(one, kernel, law, sources, sources);
  CHECK(run_law(two, kernel, law, sources, sources) == all);
  const Columns few = run_law(one, kernel, law, sources.first(5), sources);
  for (std::size_t k = 0; k < few.size(); ++k)
    CHECK(std::equal(few[k].begin(), few[k].end(), all[k].begin()));
}

TEST_CASE("a refused kernel and a buffer that is too large are errors that name the device") {
  if (!test::use_gpu_for_all()) return;
  const auto device = gpu::open_device("");
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string refused = message([&] { device->compile("__kernel void run(nonsense x) {}"); });
  CHECK(refused.find("refuses a kernel") != std::string::npos);
  CHECK(refused.find("nonsense") != std::string::npos);
  const std::string full = message([&] { device->allocate(std::size_t{1} << 60); });
  CHECK(full.find(device->info().name + " gives no buffer of ") != std::string::npos);
}
