// Gravity on a GPU (any OpenCL device): the GPU engines relative to a hand-written loop there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "emulator/host/gpu/device.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t gpu_bodies = 8192;
constexpr double gpu_softening2 = 1e-4;

/// A thread for each target; `real` is double or float.
constexpr const char* loop = R"(
typedef {0} real;
__kernel void run(__global const real* restrict body, __global real* restrict sums, ulong count) {{
  const ulong i = get_global_id(0);
  if (i >= count) return;
  const real x = body[4 * i], y = body[4 * i + 1], z = body[4 * i + 2];
  const real softening2 = {1};
  real ax = 0, ay = 0, az = 0, potential = 0;
  for (ulong j = 0; j < count; ++j) {{
    const real dx = body[4 * j] - x, dy = body[4 * j + 1] - y, dz = body[4 * j + 2] - z;
    const real inverse = rsqrt(dx * dx + (dy * dy + (dz * dz + softening2)));
    const real m = body[4 * j + 3] * inverse;
    const real factor = m * inverse * inverse;
    ax += factor * dx;
    ay += factor * dy;
    az += factor * dz;
    potential -= m;
  }}
  sums[4 * i] = ax;
  sums[4 * i + 1] = ay;
  sums[4 * i + 2] = az;
  sums[4 * i + 3] = potential;
}}
)";

template <typename Real>
class HandWritten {
 public:
  HandWritten(const Sphere& sphere, const char* type) : device_(gpu::open_device("")) {
    const char* const doubles =
        sizeof(Real) == sizeof(double) ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
    kernel_ = device_->compile(
        doubles + fmt::format(fmt::runtime(loop), type, fmt::format("(real){:e}", gpu_softening2)));
    for (std::size_t k = 0; k < sphere.size(); ++k) {
      for (std::size_t c = 0; c < 3; ++c)
        body_.push_back(static_cast<Real>(sphere.position[3 * k + c]));
      body_.push_back(static_cast<Real>(sphere.mass[k]));
    }
    sums.resize(body_.size());
    in_ = device_->allocate(bytes());
    out_ = device_->allocate(bytes());
  }
  void call() {
    device_->write(*in_, 0, body_.data(), bytes());
    device_->run(*kernel_, {{in_.get()}, {out_.get()}, {nullptr, gpu_bodies}}, gpu_bodies, 128);
    device_->read(*out_, 0, sums.data(), bytes());
  }
  std::vector<Real> sums;  ///< acceleration and potential of a body

 private:
  std::size_t bytes() const { return body_.size() * sizeof(Real); }
  std::shared_ptr<gpu::Device> device_;
  std::shared_ptr<const gpu::Kernel> kernel_;
  std::vector<Real> body_;
  std::shared_ptr<gpu::Buffer> in_, out_;
};

class EmulatedGravity {
 public:
  EmulatedGravity(const Context& context, const Sphere& sphere, const char* engine)
      : mass_(sphere.mass),
        device_(open_device(context, engine)),
        job_(device_.job(Kernel::builtin("gravity"))) {
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < gpu_bodies; ++k) axis_[c].push_back(sphere.position[3 * k + c]);
    for (auto& sum : sums) sum.resize(gpu_bodies);
    job_.set("eps2", gpu_softening2);
  }
  void call() {
    const auto& [x, y, z] = axis_;
    job_.targets(gpu_bodies, {{"xi", ConstArray(x)}, {"yi", ConstArray(y)}, {"zi", ConstArray(z)}});
    job_.sources(gpu_bodies, {{"xj", ConstArray(x)},
                              {"yj", ConstArray(y)},
                              {"zj", ConstArray(z)},
                              {"mj", ConstArray(mass_)}});
    job_.run({{"ax", MutableArray(sums[0])},
              {"ay", MutableArray(sums[1])},
              {"az", MutableArray(sums[2])},
              {"pot", MutableArray(sums[3])}});
  }
  std::array<std::vector<double>, 4> sums;

 private:
  const std::vector<double>& mass_;
  std::array<std::vector<double>, 3> axis_;
  Device device_;
  Job job_;
};

/// Largest difference of accelerations relative to their largest component.
template <typename Real>
double difference(const EmulatedGravity& a, const HandWritten<Real>& b) {
  double most = 0, size = 0;
  for (std::size_t k = 0; k < gpu_bodies; ++k)
    for (std::size_t c = 0; c < 3; ++c) {
      const auto other = static_cast<double>(b.sums[4 * k + c]);
      size = std::max(size, std::abs(other));
      most = std::max(most, std::abs(a.sums[c][k] - other));
    }
  return most / size;
}

template <typename Real>
Measurement measure(const Context& context, const Sphere& sphere, const char* engine,
                    const char* type, std::optional<double> required) {
  EmulatedGravity emulated(context, sphere, engine);
  HandWritten<Real> hand(sphere, type);
  const Comparison times = compare(TimedWork([&] { emulated.call(); }),
                                   TimedWork([&] { hand.call(); }), context.repetitions);
  const double pairs = static_cast<double>(gpu_bodies) * static_cast<double>(gpu_bodies);
  return {fmt::format("{}, gravity, {} x {}", engine, gpu_bodies, gpu_bodies), times.ratio,
          fmt::format("of a loop in OpenCL, {}", type),
          fmt::format("{:.2e} pairs/s, difference {:.1e}", pairs / times.seconds,
                      difference(emulated, hand)),
          required};
}

}  // namespace

std::vector<Measurement> gpu_rates(const Context& context) {
  if (gpu::devices().empty())
    return {{"GPU engines", 0, "", "not measured: " + gpu::why_no_device()}};
  const Sphere sphere = plummer_sphere(gpu_bodies, context.seed);
  std::vector<Measurement> list;
  if (gpu::open_device("")->info().has_doubles) {
    list.push_back(measure<double>(context, sphere, "gpu", "double", 0.8));
    list.push_back(measure<double>(context, sphere, "gpu-exact", "double", std::nullopt));
  }
  list.push_back(measure<float>(context, sphere, "gpu-float", "float", 0.8));
  return list;
}

}  // namespace gdr::bench
