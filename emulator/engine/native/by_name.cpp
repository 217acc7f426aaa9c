#include "emulator/engine/native/by_name.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "emulator/engine/native/gpu/gpu.hpp"
#include "emulator/engine/native/native.hpp"
#include "gdr/error.hpp"

namespace gdr::native {
namespace {

/// The numbers of a native engine.
struct NativeNumbers {
  std::string_view name;
  Precision precision = Precision::Float;
  FloatMode mode = FloatMode::Plain;
};
constexpr NativeNumbers native_engines[] = {{"native", Precision::Double},
                                            {"native-mixed", Precision::Float, FloatMode::Mixed},
                                            {"native-float", Precision::Float, FloatMode::Plain},
                                            {"native-fast", Precision::Float, FloatMode::Fast}};

/// The GPU that a device stands for; one for all engines, which share its memory.
std::shared_ptr<Gpu> gpu_of(const std::shared_ptr<opencl::Device>& device) {
  static std::mutex mutex;
  static auto* const known = new std::map<opencl::Device*, std::shared_ptr<Gpu>>;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Gpu>& gpu = (*known)[device.get()];
  if (!gpu) gpu = std::make_shared<Gpu>(device);
  return gpu;
}

/// "gpu" and "gpu-float", also with a device behind a colon.
std::unique_ptr<Engine> make_gpu_engine(std::string_view name, Isa isa) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view engine = name.substr(0, colon);
  if (engine != "gpu" && engine != "gpu-float") return nullptr;
  const auto device = opencl::open_device(name.substr(std::min(colon + 1, name.size())));
  const bool doubles = engine == "gpu";
  if (doubles && !device->info().has_doubles)
    throw Error(ErrorCategory::Unsupported, "the OpenCL device " + device->info().name +
                                                " has no doubles; use the engine gpu-float");
  return std::make_unique<NativeEngine>(isa, doubles ? Precision::Double : Precision::Float,
                                        gpu_of(device));
}

}  // namespace

std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa) {
  if (auto engine = make_gpu_engine(name, isa)) return engine;
  for (const NativeNumbers& e : native_engines)
    if (name == e.name) return std::make_unique<NativeEngine>(isa, e.precision, e.mode);
  return nullptr;
}

}  // namespace gdr::native
