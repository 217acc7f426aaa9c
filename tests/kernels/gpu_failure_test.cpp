// GPUs that fail, and several of them: devices of the driver that count their launches and fail on
// request. Without an OpenCL device these tests are skipped; the processor's (pocl) will do.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/laws/laws.hpp"
#include "emulator/engine/gpu/guarded_device.hpp"
#include "gdr/matrix.hpp"
#include "kernels/test_device.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"

using namespace gdr;
using namespace gdr::bench;

namespace {

constexpr int never = std::numeric_limits<int>::max();

std::string message(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Gravity of some particles, or of the first targets, on an engine.
Columns gravity(Device& device, std::size_t n, std::size_t targets = 0) {
  const Law& law = law_of("gravity");
  const Sample all = law.sample(n, 3);
  return run_law(device, Kernel::builtin("gravity"), law, all.first(targets != 0 ? targets : n),
                 all);
}
Columns gravity(const std::string& engine, std::size_t n, std::size_t targets = 0) {
  Device device = Device::open("emulator:partition=targets,engine=" + engine);
  return gravity(device, n, targets);
}

/// A product of small integers, whose sums are exact, or of other numbers, whose sums depend on
/// their order.
class Product {
 public:
  enum Numbers : std::uint8_t { Integers, Sines };
  Product(std::size_t rows, std::size_t columns, std::size_t depth, Numbers numbers)
      : m_(rows), n_(columns), k_(depth), a_(rows * depth), b_(depth * columns) {
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = static_cast<double>(i % 17) - 8;
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = static_cast<double>(i % 13) - 6;
    if (numbers == Integers) return;
    for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = std::sin(static_cast<double>(i));
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = std::cos(static_cast<double>(i));
  }
  std::vector<double> on(Device& device) const {
    std::vector<double> c(m_ * n_, -1.0);
    MatrixProduct(device).compute(m_, n_, k_, 1.0, {a_.data(), m_}, {b_.data(), k_}, 0.0,
                                  {c.data(), m_});
    return c;
  }
  std::vector<double> on(const std::string& engine) const {
    Device device = Device::open("emulator:engine=" + engine);
    return on(device);
  }
  std::vector<double> right() const {
    std::vector<double> c(m_ * n_, 0.0);
    for (std::size_t j = 0; j < n_; ++j)
      for (std::size_t k = 0; k < k_; ++k)
        for (std::size_t i = 0; i < m_; ++i) c[j * m_ + i] += a_[k * m_ + i] * b_[j * k_ + k];
    return c;
  }

 private:
  std::size_t m_, n_, k_;
  std::vector<double> a_, b_;
};

constexpr std::pair<const char*, const char*> gpu_and_host[] = {
    {"gpu", "native"}, {"gpu-float", "native-float"}, {"gpu-exact", "vector"}};

}  // namespace

TEST_CASE("a failure of a GPU is an error with the remedy") {
  if (!test::has_gpu()) return;
  for (const auto& [engine, host] : gpu_and_host) {
    for (const auto call : {TestDevice::Compile, TestDevice::Allocate, TestDevice::Write,
                            TestDevice::Read, TestDevice::Run}) {
      INFO(engine << ", call " << call);
      const TestGpus gpus(1);
      Device device = Device::open(std::string("emulator:partition=targets,engine=") + engine);
      gpus.devices[0]->fail(call, 0, 100);
      const std::string failed = message([&] { gravity(device, 300); });
      CHECK(failed.find("injected failure") != std::string::npos);
      CHECK(failed.find("GDR_GPU_FALLBACK=cpu") != std::string::npos);
      // After a failed allocation or compilation the device is used again, else no more.
      gpus.devices[0]->fail(call, never);
      const int launches = gpus.devices[0]->launches();
      const bool lost = call != TestDevice::Compile && call != TestDevice::Allocate;
      const std::string later = message([&] { gravity(device, 300); });
      CHECK((later.find("does not use the card again") != std::string::npos) == lost);
      CHECK((gpus.devices[0]->launches() == launches) == lost);
    }
  }
}

TEST_CASE("the processor takes over from a GPU that fails, with its own bits") {
  if (!test::has_gpu()) return;
  for (const auto& [engine, host] : gpu_and_host) {
    const Columns right = gravity(host, 700);
    for (const auto call : {TestDevice::Compile, TestDevice::Allocate, TestDevice::Write,
                            TestDevice::Read, TestDevice::Run})
      for (const int good : {0, 1, 2}) {
        INFO(engine << ", call " << call << " number " << good);
        const TestGpus gpus(1, true);
        Device device = Device::open(std::string("emulator:partition=targets,engine=") + engine);
        gpus.devices[0]->fail(call, good);
        const Columns found = gravity(device, 700);
        const Statistics s = device.statistics();
        INFO(s.fallback_reason);
        if (s.fallback_reason.empty()) {
          // It did not call so often.
          CHECK(s.gpu_runs > 0);
          continue;
        }
        CHECK(found == right);
        CHECK(s.gpu_runs == 0);
        CHECK(s.fallback_reason.find("injected failure") != std::string::npos);
        CHECK(gravity(device, 700) == right);
      }
  }
}

TEST_CASE("a calculation for which a GPU has no memory runs on the processor, later ones do not") {
  if (!test::has_gpu()) return;
  for (const auto& [engine, host] : gpu_and_host) {
    INFO(engine);
    const TestGpus gpus(1, true);
    Device device = Device::open(std::string("emulator:partition=targets,engine=") + engine);
    gpus.devices[0]->fail(TestDevice::Allocate, 0, 2);
    CHECK(gravity(device, 300) == gravity(host, 300));
    CHECK(device.statistics().gpu_runs == 0);
    gpus.devices[0]->fail(TestDevice::Allocate, never);
    gravity(device, 300);
    CHECK(device.statistics().gpu_runs > 0);
  }
}

TEST_CASE("a matrix product whose GPU fails is an error, or the processor computes it") {
  if (!test::has_gpu()) return;
  const Product product(48, 48, 48, Product::Integers);
  const std::vector<double> right = product.right();
  for (const auto& [engine, host] : gpu_and_host) {
    for (const auto call :
         {TestDevice::Compile, TestDevice::Write, TestDevice::Run, TestDevice::Read}) {
      INFO(engine << ", call " << call);
      const TestGpus gpus(1, true);
      Device device = Device::open(std::string("emulator:engine=") + engine);
      gpus.devices[0]->fail(call, 0);
      CHECK(product.on(device) == right);  // small integers: exact in all engines
      CHECK(device.statistics().gpu_runs == 0);
      CHECK(device.statistics().fallback_reason.find("injected failure") != std::string::npos);
    }
    const TestGpus gpus(1);
    Device device = Device::open(std::string("emulator:engine=") + engine);
    CHECK(product.on(device) == right);
    CHECK(device.statistics().gpu_runs > 0);
    gpus.devices[0]->fail(TestDevice::Run, 0);
    CHECK_THROWS_AS(product.on(device), Error);
  }
}

TEST_CASE("several GPUs share a matrix product with the bits of one") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(3);
  for (const char* const blas : {"own", "library"}) {
    if (blas == std::string_view("library") && !test::has_gpu_library()) continue;
    const test::GpuBlas chosen(blas);
    for (const auto& [engine, host] : gpu_and_host) {
      CAPTURE(engine, blas);
      // Of several tiles of columns for each GPU, and of fewer tiles than GPUs.
      for (const std::size_t columns : {2100, 70}) {
        const Product product(24, columns, 150, Product::Sines);
        const std::vector<double> one = product.on(std::string(engine) + ":0");
        for (const char* which : {":0+1", ":all", ":2+1"}) {
          std::vector<int> before;
          for (const auto& device : gpus.devices) before.push_back(device->launches());
          if (columns == 70 && which != std::string_view(":all")) continue;
          CHECK(product.on(engine + std::string(which)) == one);
          if (columns == 70) continue;
          for (std::size_t n = 0; n < 3; ++n) {
            const bool used = which == std::string(":all") || which[1] == char('0' + n) ||
                              which[3] == char('0' + n);
            CHECK((gpus.devices[n]->launches() > before[n]) == used);
          }
        }
      }
    }
  }
}

TEST_CASE("if GPUs fail in a matrix product that they share, the others take over") {
  if (!test::has_gpu()) return;
  const Product product(24, 2100, 150, Product::Sines);
  for (const auto& [engine, host] : gpu_and_host) {
    const std::vector<double> one = [&] {
      const TestGpus gpus(1);
      return product.on(engine);
    }();
    for (const auto call : {TestDevice::Run, TestDevice::Allocate, TestDevice::Read}) {
      // Compiling takes most of the time of this test.
      if (call != TestDevice::Run && engine != std::string_view("gpu")) continue;
      CAPTURE(engine, call);
      const TestGpus gpus(3);
      Device device = Device::open(std::string("emulator:engine=") + engine + ":all");
      for (const std::size_t failing : {1, 0}) {
        gpus.devices[failing]->fail(call, failing == 1 ? 1 : 0);
        CHECK(product.on(device) == one);
        CHECK(product.on(device) == one);
      }
      CHECK(device.statistics().gpu_runs > 0);
      const std::string reason = device.statistics().fallback_reason;
      CHECK(reason.find("injected failure") != std::string::npos);
      CHECK(reason.find("other GPUs took over") != std::string::npos);
      if (call == TestDevice::Allocate) continue;  // the last one has all buffers
      gpus.devices[2]->fail(call, 0);
      CHECK(message([&] { product.on(device); }).find("GDR_GPU_FALLBACK=cpu") != std::string::npos);
    }
  }
}

TEST_CASE("several GPUs share a calculation with the bits of one") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(3);
  for (const auto& [engine, host] : gpu_and_host) {
    INFO(engine);
    const Columns one = gravity(std::string(engine) + ":0", 9000, 700);
    for (const char* which : {":0+1", ":all", ":2+1"}) {
      std::vector<int> before;
      for (const auto& device : gpus.devices) before.push_back(device->launches());
      CHECK(gravity(engine + std::string(which), 9000, 700) == one);
      for (std::size_t n = 0; n < 3; ++n) {
        const bool used =
            which == std::string(":all") || which[1] == char('0' + n) || which[3] == char('0' + n);
        CHECK((gpus.devices[n]->launches() > before[n]) == used);
      }
    }
  }
}

TEST_CASE("if one of several GPUs fails, no work is lost") {
  if (!test::has_gpu()) return;
  for (const auto& [engine, host] : gpu_and_host) {
    const TestGpus gpus(2);
    const Columns one = gravity(std::string(engine) + ":0", 700);
    Device device =
        Device::open(std::string("emulator:partition=targets,engine=") + engine + ":0+1");
    for (const auto call : {TestDevice::Run, TestDevice::Write}) {
      INFO(engine << ", call " << call);
      gpus.devices[1]->fail(call, 1);
      CHECK(gravity(device, 700) == one);
      CHECK(gravity(device, 700) == one);
    }
    CHECK(device.statistics().fallback_reason.find("injected failure") != std::string::npos);
    CHECK(device.statistics().gpu_runs > 0);
    gpus.devices[0]->fail(TestDevice::Read, 0);
    CHECK(message([&] { gravity(device, 700); }).find("GDR_GPU_FALLBACK=cpu") != std::string::npos);
  }
}

TEST_CASE("names of GPUs that are wrong are errors, and a description names those in use") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(2);
  const auto open = [](const char* engine) {
    return message([&] { Device::open(std::string("emulator:engine=") + engine); });
  };
  CHECK(open("gpu:2").find("there is no GPU device '2'; there are 2") != std::string::npos);
  CHECK(open("gpu:0+2").find("there is no GPU device '2'") != std::string::npos);
  CHECK(open("gpu:1+1").find("the GPU 1 is named twice") != std::string::npos);
  CHECK(open("gpu:0+x").find("there is no GPU device '0+x'") != std::string::npos);
  const std::string name = gpus.devices[0]->info().name;
  CHECK(Device::open("emulator:engine=gpu:0+1").description().find("(gpu:0+1, " + name + ")") !=
        std::string::npos);
  CHECK(
      Device::open("emulator:engine=gpu-exact:all").description().find("(gpu:0+1, " + name + ")") !=
      std::string::npos);
}

TEST_CASE("each rank of an MPI job on a host uses its own GPU") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(2);
  for (const auto& [rank, number] : {std::pair{"0", 0}, {"1", 1}, {"2", 0}, {"x", 0}}) {
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", rank, 1);
    INFO(rank);
    CHECK(Device::open("emulator:engine=gpu")
              .description()
              .find("(gpu:" + std::to_string(number) + ", ") != std::string::npos);
    CHECK(Device::open("emulator:engine=gpu:1").description().find("(gpu:1, ") !=
          std::string::npos);
  }
  unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
}

TEST_CASE("all chips of a board share a launch") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(1);
  for (const char* engine : {"gpu", "gpu-float"}) {
    INFO(engine);
    const int before = gpus.devices[0]->launches();
    gravity(engine, 1000);  // on four chips
    CHECK(gpus.devices[0]->launches() - before == 1);
  }
}

TEST_CASE("many iterations take several launches, with the same bits") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(1);
  const std::size_t targets = 8192, sources = 40000;
  for (const char* engine : {"gpu", "gpu-float"}) {
    INFO(engine);
    const Columns few = gravity(engine, sources, 64);
    const int before = gpus.devices[0]->launches();
    const Columns many = gravity(engine, sources, targets);
    CHECK(gpus.devices[0]->launches() - before > 1);
    for (std::size_t k = 0; k < few.size(); ++k)
      CHECK(std::equal(few[k].begin(), few[k].end(), many[k].begin()));
  }
}

TEST_CASE("targets that a board computes one after the other share a launch") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(2);
  for (const char* engine : {"gpu", "gpu-float", "gpu:0+1"}) {
    INFO(engine);
    Device small = Device::open(
        std::string("emulator:partition=targets,chips=2,blocks=2,pes=8,engine=") + engine);
    const Columns right = gravity(engine, 1500);
    const int before = gpus.devices[0]->launches();
    CHECK(gravity(small, 1500) == right);  // 128 at a time
    CHECK(gpus.devices[0]->launches() - before == 1);
  }
}

TEST_CASE("targets that a board computes one after the other share a launch of gpu-exact") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(2);
  for (const char* engine : {"gpu-exact", "gpu-exact:0+1"}) {
    INFO(engine);
    const std::string board = "emulator:partition=targets,chips=2,blocks=2,pes=8,engine=";
    Device small = Device::open(board + engine), host = Device::open(board + "vector");
    const Columns right = gravity(host, 1500);
    CHECK(gravity(small, 1500) == right);
    const int before = gpus.devices[0]->launches();
    CHECK(gravity(small, 1500) == right);  // 128 at a time, in passes of all but a few chips
    CHECK(gpus.devices[0]->launches() - before <= 2);  // sources that changed, and the loop
    CHECK(small.statistics().gpu_runs > 2 * 1500 / 64);
    // Few targets of a chip have blocks of fewer PEs.
    CHECK(gravity(small, 1500, 133) == gravity(host, 1500, 133));
    CHECK(gravity(small, 1500, 5) == gravity(host, 1500, 5));
  }
}

TEST_CASE("a lost card ends its launches before their buffers are freed") {
  if (!test::has_gpu()) return;
  const auto device = std::make_shared<TestDevice>(gpu::open_device(""));
  GuardedDevice guarded(device);
  const auto buffer = guarded.allocate(64);
  device->fail(TestDevice::Read, 0, 1);
  std::uint64_t word = 0;
  CHECK_THROWS_AS(guarded.read(*buffer, 0, &word, sizeof word), GpuError);
  REQUIRE(guarded.is_lost());
  // Another thread's launch may still use this buffer.
  CHECK_THROWS_AS(guarded.finish(), GpuError);
  CHECK(device->finishes() == 1);
}

TEST_CASE("many targets of gpu-exact are computed in two launches side by side") {
  if (!test::has_gpu()) return;
  const std::size_t targets = 70000, sources = 40;
  const Law& law = law_of("gravity");
  const Sample all = law.sample(targets, 3);
  const auto forces = [&](Device& device) {
    return run_law(device, Kernel::builtin("gravity"), law, all, all.first(sources));
  };
  Device host = Device::open("emulator:partition=targets,engine=vector");
  const Columns right = forces(host);
  for (const bool fallback : {false, true}) {
    const TestGpus gpus(1, fallback);
    Device device = Device::open("emulator:partition=targets,engine=gpu-exact");
    CHECK(forces(device) == right);
    const int before = gpus.devices[0]->launches();
    CHECK(forces(device) == right);
    CHECK(gpus.devices[0]->launches() - before == 3);  // one is that of the sources
    // One of the halves fails.
    gpus.devices[0]->fail(TestDevice::Read, 1, 1);
    if (fallback)
      CHECK(forces(device) == right);
    else
      CHECK(message([&] { forces(device); }).find("injected") != std::string::npos);
  }
}

TEST_CASE("the boards of a device share a launch") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(1);
  for (const auto& [engine, host] : gpu_and_host) {
    INFO(engine);
    const std::string board = "emulator:partition=targets,chips=2,blocks=2,pes=8,engine=";
    Device boards = Device::open(board + engine + ",boards=3"), one = Device::open(board + engine);
    const Columns right = gravity(one, 1500);
    CHECK(gravity(boards, 1500) == right);
    const int before = gpus.devices[0]->launches();
    CHECK(gravity(boards, 1500) == right);
    // Those of the sources that changed, once for all boards, and of the loop.
    CHECK(gpus.devices[0]->launches() - before <= (std::string(engine) == "gpu-exact" ? 2 : 1));
    // The last boards have nothing to do.
    CHECK(gravity(boards, 1500, 5) == gravity(one, 1500, 5));
    // Clocks and transfers are still those of each board.
    boards.reset_statistics();
    one.reset_statistics();
    gravity(boards, 1500);
    gravity(one, 1500);
    CHECK(boards.statistics().chip_clocks * 3 == one.statistics().chip_clocks);
    CHECK(boards.statistics().fallback_runs == 0);
  }
}

TEST_CASE("boards with different sources compute separately") {
  if (!test::has_gpu()) return;
  // Each chip has its part of the sources.
  const TestGpus gpus(1);
  for (const auto& [engine, host] : gpu_and_host) {
    INFO(engine);
    const std::string board = "emulator:partition=sources,chips=2,blocks=2,pes=8,engine=";
    Device boards = Device::open(board + engine + ",boards=3"), one = Device::open(board + engine);
    CHECK(gravity(boards, 700) == gravity(one, 700));
  }
}

TEST_CASE("parameters and sources change between calculations that share launches") {
  if (!test::has_gpu()) return;
  const TestGpus gpus(1);
  const std::string engine = GENERATE("gpu", "gpu-exact"), boards = GENERATE("1", "3");
  CAPTURE(engine, boards);
  Device small = Device::open("exact:partition=targets,chips=1,blocks=2,pes=8,boards=" + boards +
                              ",engine=" + engine);
  Device large = Device::open("emulator:partition=targets,engine=" + engine);
  const Kernel kernel = Kernel::compile("VARI x; VARJ y; CONST c; VARF f; f += (x - y)*c;", "law");
  std::vector<double> x(1000), y(700);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 37) / 8;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i * i % 23) / 16;
  std::vector<std::vector<double>> found;
  for (Device* device : {&small, &large}) {
    Job job = device->job(kernel);
    for (const double c : {1.0, 3.0}) {
      y[5] += c;
      job.set("c", c);
      job.sources(y.size(), {{"y", ConstArray(y)}});
      job.targets(x.size(), {{"x", ConstArray(x)}});
      found.emplace_back(x.size());
      job.run({{"f", MutableArray(found.back())}});
      y[5] += c;
      job.update_sources(5, 1, {{"y", ConstArray(&y[5], sizeof(double))}});
      found.emplace_back(x.size());
      job.run({{"f", MutableArray(found.back())}});
    }
    y[5] -= 8;
  }
  for (std::size_t k = 0; k < 4; ++k) CHECK(found[k] == found[k + 4]);
  CHECK(found[0] != found[2]);
}

TEST_CASE("a failure while targets wait for a launch leaves a device usable") {
  if (!test::has_gpu()) return;
  for (const bool fallback : {false, true}) {
    const TestGpus gpus(1, fallback);
    const std::string boards = GENERATE("1", "3");
    CAPTURE(fallback, boards);
    Device small = Device::open(
        "emulator:partition=targets,chips=1,blocks=2,pes=8,boards=" + boards + ",engine=gpu");
    const Columns host = gravity("native", 500);
    gpus.devices[0]->fail(TestDevice::Allocate, 0, 2);
    if (fallback)
      CHECK(gravity(small, 500) == host);
    else
      CHECK(message([&] { gravity(small, 500); }).find("injected") != std::string::npos);
    gpus.devices[0]->fail(TestDevice::Allocate, never);
    CHECK(gravity(small, 500) == gravity("gpu", 500));
  }
}
