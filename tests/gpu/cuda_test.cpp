// The CUDA back end through fake libraries (fake_cuda/) that execute it on an OpenCL device:
// launches, memory, threads, and what users read when something fails.
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "emulator/host/gpu/device.hpp"
#include "emulator/host/gpu/few_registers.hpp"
#include "gpu/fake_devices.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

constexpr const char* square = R"(
__kernel void run(__global const ulong* restrict in, __global ulong* restrict out, ulong count,
                  ulong addend) {
  const ulong n = get_global_id(0);
  if (n < count) out[n] = in[n] * in[n] + addend;
}
)";

/// Squares of 0 to count - 1, and the addend, computed on the device.
std::vector<std::uint64_t> squares(gpu::Device& device, const gpu::Kernel& kernel,
                                   std::uint64_t count, std::uint64_t addend) {
  std::vector<std::uint64_t> numbers(count), results(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::size_t bytes = count * sizeof(std::uint64_t);
  const auto in = device.allocate(bytes), out = device.allocate(bytes);
  // In two parts, of which the second has an offset.
  const std::size_t half = bytes / 16 * 8;
  device.write(*in, 0, numbers.data(), half);
  device.write(*in, half, numbers.data() + half / 8, bytes - half);
  device.run(kernel, {{in.get()}, {out.get()}, {nullptr, count}, {nullptr, addend}},
             (count + 127) / 128 * 128, 128);
  device.read(*out, 0, results.data(), half);
  device.read(*out, half, results.data() + half / 8, bytes - half);
  return results;
}

std::vector<std::uint64_t> right_squares(std::uint64_t count, std::uint64_t addend) {
  std::vector<std::uint64_t> right(count);
  for (std::uint64_t n = 0; n < count; ++n) right[n] = n * n + addend;
  return right;
}

}  // namespace

TEST_CASE("a CUDA device computes, for several threads and from two devices") {
  if (!has_fake_cuda()) return;
  for (const char* name : {"cuda", "cuda:0", "cuda:1", "cuda:card 1"}) {
    const auto device = gpu::open_device(name);
    CHECK(device->info().backend == "CUDA");
    CHECK(device->info().is_gpu);
    const auto kernel = device->compile(square);
    CHECK(squares(*device, *kernel, 1000, 7) == right_squares(1000, 7));
    CHECK(squares(*device, *kernel, 1, 0) == right_squares(1, 0));
    std::vector<std::vector<std::uint64_t>> found(4);
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < found.size(); ++t)
      threads.emplace_back([&, t] { found[t] = squares(*device, *kernel, 3000 + t, t); });
    threads.clear();
    for (std::size_t t = 0; t < found.size(); ++t) CHECK(found[t] == right_squares(3000 + t, t));
  }
  CHECK(gpu::open_device("cuda:0") == gpu::open_device("cuda"));
  CHECK(gpu::open_device("cuda:0") != gpu::open_device("cuda:1"));
  CHECK(gpu::open_device("opencl")->info().backend == "OpenCL");
}

TEST_CASE("devices are named by interface, and a name without a device lists those that exist") {
  if (!has_fake_cuda()) return;
  // The cards are before the processor.
  REQUIRE(gpu::devices().size() >= 3);
  CHECK(gpu::devices()[0].backend == "CUDA");
  CHECK(gpu::devices()[1].backend == "CUDA");
  CHECK(gpu::devices()[2].backend == "OpenCL");
  CHECK(gpu::open_device("") == gpu::open_device("cuda:0"));
  CHECK(gpu::open_device("1") == gpu::open_device("cuda:1"));
  CHECK(contains(gpu::description(gpu::devices()[0]), "Fake CUDA card 0, CUDA, driver 12.4, "));
  expect_error(ErrorCategory::Unsupported,
               {"there is no CUDA device '2'", "0 (Fake CUDA card 0), 1 (Fake CUDA card 1)"},
               [] { gpu::open_device("cuda:2"); });
  expect_error(ErrorCategory::Unsupported,
               {"there is no GPU device 'no card'", "1 (Fake CUDA card 1)"},
               [] { gpu::open_device("no card"); });
}

TEST_CASE("a text that asks for few registers computes, also with an NVRTC without the option") {
  if (!has_fake_cuda()) return;
  const std::string text = std::string(gpu::few_registers) + square;
  for (const char* taken : {"1", "0"}) {
    INFO(taken);
    setenv("GDR_FAKE_NVRTC_PTXAS_OPTIONS", taken, 1);
    for (const char* name : {"cuda:0", "opencl"}) {
      const auto device = gpu::open_device(name);
      CHECK(squares(*device, *device->compile(text), 1000, 7) == right_squares(1000, 7));
    }
  }
  unsetenv("GDR_FAKE_NVRTC_PTXAS_OPTIONS");
}

TEST_CASE("a program that the CUDA compiler refuses is an error with its messages") {
  if (!has_fake_cuda()) return;
  const auto device = gpu::open_device("cuda");
  expect_error(ErrorCategory::Program, {"NVRTC 12.4 refuses a kernel for sm_90", "nonsense"},
               [&] { device->compile("__kernel void run(nonsense x) {}"); });
  const Injected failure("nvrtcCompileProgram=7");
  expect_error(ErrorCategory::Device,
               {"NVRTC 12.4 cannot compile", "BUILTIN_OPERATION", "libnvrtc-builtins"},
               [&] { device->compile(square); });
}

TEST_CASE("errors of the CUDA driver have a reason and a remedy, and later calls work again") {
  if (!has_fake_cuda()) return;
  const auto device = gpu::open_device("cuda:1");
  const auto kernel = device->compile(square);
  struct Case {
    const char* failures;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {"cuMemAlloc_v2=2",
       {"the CUDA device Fake CUDA card 1 gives no buffer of 8000 bytes", "its memory is full",
        "use fewer targets", "(CUDA error 2, CUDA_ERROR_OUT_OF_MEMORY)"}},
      {"cuLaunchKernel=702", {"cannot start a kernel", "took too long", "a display"}},
      {"cuStreamSynchronize=702once", {"failed", "took too long"}},
      {"cuLaunchKernel=701", {"more registers"}},
      {"cuMemcpyHtoDAsync_v2=214", {"cannot be written to", "cannot be corrected", "nvidia-smi"}},
      {"cuMemcpyDtoHAsync_v2=719", {"cannot be read", "the process can use the card no longer"}},
      {"cuMemcpyDtoHAsync_v2=999", {"removed or reset", "Xid"}},
      {"cuLaunchKernel=3", {"forked", "spawn"}},
      {"cuLaunchKernel=12345", {"CUDA error 12345"}},
  };
  for (const Case& c : cases) {
    INFO(c.failures);
    {
      const Injected failure(c.failures);
      expect_error(ErrorCategory::Device, c.words, [&] { squares(*device, *kernel, 1000, 0); });
    }
    CHECK(squares(*device, *kernel, 1000, 0) == right_squares(1000, 0));
  }
}

TEST_CASE("a driver that refuses machine code of a newer NVRTC takes its PTX") {
  if (!has_fake_cuda()) return;
  const auto device = gpu::open_device("cuda");
  {
    const Injected failure("cuModuleLoadDataEx=209once");
    const auto kernel = device->compile(square);
    CHECK(squares(*device, *kernel, 100, 1) == right_squares(100, 1));
  }
  for (const char* const both : {"cuModuleLoadDataEx=200", "cuModuleLoadDataEx=222"}) {
    const Injected failure(both);
    expect_error(ErrorCategory::Device,
                 {"does not load a kernel of NVRTC 12.4", "the driver is older than NVRTC"},
                 [&] { device->compile(square); });
  }
}

TEST_CASE("buffers outside of their size, and too many threads, are errors") {
  if (!has_fake_cuda()) return;
  const auto device = gpu::open_device("cuda");
  const auto buffer = device->allocate(64);
  std::vector<std::byte> bytes(128);
  expect_error(ErrorCategory::Device, {"cannot be written to", "CUDA error 1"},
               [&] { device->write(*buffer, 0, bytes.data(), 65); });
  expect_error(ErrorCategory::Device, {"cannot be read", "CUDA error 1"},
               [&] { device->read(*buffer, 60, bytes.data(), 5); });
  device->read(*buffer, 60, bytes.data(), 4);
  const auto kernel = device->compile(square);
  expect_error(ErrorCategory::Device, {"groups of threads at once"}, [&] {
    device->run(*kernel, {{buffer.get()}, {buffer.get()}, {nullptr, 1}, {nullptr, 1}},
                std::size_t{1} << 40, 128);
  });
}

}  // namespace gdr::test
