// Matrix products on a GPU (any OpenCL or CUDA device): the GPU engines relative to a simple tiled
// kernel there, and to the engine native on the processor; with the device's BLAS library relative
// to our own kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "emulator/host/gpu/device.hpp"
#include "gdr/matrix.hpp"

namespace gdr::bench {
namespace {

/// Rows and columns on a GPU, and on a processor, for exact products there.
constexpr std::size_t on_gpu_size = 4096, on_processor_size = 1024, exact_on_processor_size = 512;

/// A tile of 16 x 16 for 256 work items, one number each, in local memory.
constexpr const char* tiled = R"(
typedef {} real;
__kernel void run(__global const real* restrict a, __global const real* restrict b,
                  __global real* restrict c, ulong n) {{
  __local real x[256], y[256];
  const ulong t = get_local_id(0), across = t % 16, down = t / 16;
  const ulong row = get_group_id(0) % (n / 16) * 16 + across;
  const ulong column = get_group_id(0) / (n / 16) * 16;
  real sum = 0;
  for (ulong k = 0; k < n; k += 16) {{
    x[down * 16 + across] = a[row + (k + down) * n];
    y[down * 16 + across] = b[k + across + (column + down) * n];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 16; ++i) sum = fma(x[i * 16 + across], y[down * 16 + i], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }}
  c[row + (column + down) * n] = sum;
}}
)";

struct ProductMatrices {
  std::size_t size;
  std::vector<double> a, b, c;

  ProductMatrices(std::size_t n, std::uint64_t seed) : size(n), a(n * n), b(n * n), c(n * n) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<> number(-1, 1);
    for (double& x : a) x = number(random);
    for (double& x : b) x = number(random);
  }
};

template <typename Real>
class Tiled {
 public:
  Tiled(const ProductMatrices& m, const char* type)
      : size_(m.size), a_(m.a.begin(), m.a.end()), b_(m.b.begin(), m.b.end()), c(m.c.size()) {
    const char* const doubles =
        sizeof(Real) == sizeof(double) ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
    kernel_ = device_->compile(doubles + fmt::format(fmt::runtime(tiled), type));
    for (auto& buffer : buffers_) buffer = device_->allocate(bytes());
  }
  void call() {
    device_->write(*buffers_[0], 0, a_.data(), bytes());
    device_->write(*buffers_[1], 0, b_.data(), bytes());
    device_->run(*kernel_,
                 {{buffers_[0].get()}, {buffers_[1].get()}, {buffers_[2].get()}, {nullptr, size_}},
                 size_ * size_, 256);
    device_->read(*buffers_[2], 0, c.data(), bytes());
  }

 private:
  std::size_t bytes() const { return a_.size() * sizeof(Real); }
  std::size_t size_;
  std::shared_ptr<gpu::Device> device_ = gpu::open_device("");
  std::shared_ptr<const gpu::Kernel> kernel_;
  std::shared_ptr<gpu::Buffer> buffers_[3];
  std::vector<Real> a_, b_;

 public:
  std::vector<Real> c;
};

/// GDR_GPU_BLAS for the engines that multiply first during its lifetime.
class Multiplier {
 public:
  explicit Multiplier(const char* value) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Multiplier() {
    if (before_.empty())
      unsetenv(name);
    else
      setenv(name, before_.c_str(), 1);
  }
  Multiplier(const Multiplier&) = delete;

 private:
  static constexpr const char* name = "GDR_GPU_BLAS";
  std::string before_;
};

class EmulatedProduct {
 public:
  /// `multiplier`: "own" or "library".
  EmulatedProduct(const Context& context, ProductMatrices& m, const char* engine,
                  const char* multiplier = "own")
      : m_(m), device_(open_device(context, engine)), product_(device_, MatrixPrecision::Chip) {
    const Multiplier chosen(multiplier);
    call();
  }
  void call() {
    const std::size_t n = m_.size;
    product_.compute(n, n, n, 1, {m_.a.data(), n}, {m_.b.data(), n}, 0, {m_.c.data(), n});
  }
  bool on_gpu() const { return device_.statistics().gpu_runs != 0; }

 private:
  ProductMatrices& m_;
  Device device_;
  MatrixProduct product_;
};

double gflops(std::size_t n, double seconds) {
  return 2e-9 * std::pow(static_cast<double>(n), 3) / seconds;
}

/// The library relative to our kernels, on equal matrices.
void measure_library(const Context& context, const char* engine, std::size_t size,
                     std::vector<Measurement>& list) {
  const gpu::BlasLibrary library = gpu::open_device("")->blas();
  const std::string name = fmt::format("{0}, product {1} x {1} by {1} x {1}", engine, size);
  if (library.blas == nullptr) {
    list.push_back({name, 0, "", "no library: " + library.reason});
    return;
  }
  ProductMatrices m(size, context.seed), other(size, context.seed);
  EmulatedProduct by_library(context, m, engine, "library"), own(context, other, engine, "own");
  const Comparison to_own = compare(TimedWork([&] { by_library.call(); }),
                                    TimedWork([&] { own.call(); }), context.repetitions);
  double most = 0;
  for (std::size_t i = 0; i < m.c.size(); ++i) most = std::max(most, std::abs(m.c[i] - other.c[i]));
  list.push_back(
      {name + ", " + library.blas->name(), to_own.ratio, "of our kernels",
       fmt::format("{:.2f} Gflops, difference {:.1e}", gflops(size, to_own.seconds), most)});
}

template <typename Real>
void measure(const Context& context, const char* engine, const char* type, std::size_t size,
             std::vector<Measurement>& list) {
  ProductMatrices m(size, context.seed), other(size, context.seed);
  EmulatedProduct emulated(context, m, engine), native(context, other, "native");
  Tiled<Real> hand(m, type);
  const std::string name = fmt::format("{0}, product {1} x {1} by {1} x {1}", engine, size);
  const Comparison to_hand = compare(TimedWork([&] { emulated.call(); }),
                                     TimedWork([&] { hand.call(); }), context.repetitions);
  double most = 0;
  for (std::size_t i = 0; i < m.c.size(); ++i)
    most = std::max(most, std::abs(m.c[i] - static_cast<double>(hand.c[i])));
  list.push_back({name, to_hand.ratio, fmt::format("of a tiled kernel in OpenCL, {}", type),
                  fmt::format("{:.2f} Gflops, difference {:.1e}{}", gflops(size, to_hand.seconds),
                              most, emulated.on_gpu() ? "" : ", on the processor")});
  const Comparison to_native = compare(TimedWork([&] { emulated.call(); }),
                                       TimedWork([&] { native.call(); }), context.repetitions);
  list.push_back({name, to_native.ratio, "of the engine native",
                  fmt::format("{:.2f} Gflops", gflops(size, to_native.seconds))});
}

}  // namespace

std::vector<Measurement> gpu_products(const Context& context) {
  if (gpu::devices().empty())
    return {{"GPU engines", 0, "", "not measured: " + gpu::why_no_device()}};
  std::vector<Measurement> list;
  const gpu::DeviceInfo& info = gpu::open_device("")->info();
  const std::size_t size = info.is_gpu ? on_gpu_size : on_processor_size;
  const std::size_t exact = info.is_gpu ? on_gpu_size : exact_on_processor_size;
  if (info.has_doubles) {
    measure<double>(context, "gpu", "double", size, list);
    measure_library(context, "gpu", size, list);
    measure<double>(context, "gpu-exact", "double", exact, list);
  }
  measure<float>(context, "gpu-float", "float", size, list);
  measure_library(context, "gpu-float", size, list);
  return list;
}

}  // namespace gdr::bench
