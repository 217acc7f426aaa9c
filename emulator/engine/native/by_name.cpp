#include "emulator/engine/native/by_name.hpp"

#include <algorithm>

#include "emulator/engine/gpu/gpu.hpp"
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

/// "gpu" and "gpu-float", also with a device behind a colon.
std::unique_ptr<Engine> make_gpu_engine(std::string_view name, Isa isa) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view engine = name.substr(0, colon);
  if (engine != "gpu" && engine != "gpu-float") return nullptr;
  const std::shared_ptr<Gpu> gpu = open_gpu(name.substr(std::min(colon + 1, name.size())));
  const bool doubles = engine == "gpu";
  if (doubles && !gpu->device->info().has_doubles)
    throw Error(ErrorCategory::Unsupported, "the OpenCL device " + gpu->device->info().name +
                                                " has no doubles; use the engine gpu-float");
  return std::make_unique<NativeEngine>(isa, doubles ? Precision::Double : Precision::Float, gpu);
}

}  // namespace

std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa) {
  if (auto engine = make_gpu_engine(name, isa)) return engine;
  for (const NativeNumbers& e : native_engines)
    if (name == e.name) return std::make_unique<NativeEngine>(isa, e.precision, e.mode);
  return nullptr;
}

}  // namespace gdr::native
