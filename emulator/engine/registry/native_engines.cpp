#include "emulator/engine/registry/native_engines.hpp"

#include <algorithm>

#include "emulator/engine/gpu/cards.hpp"
#include "emulator/engine/matmul/gpu/gpu_products.hpp"
#include "emulator/engine/native/native.hpp"
#include "emulator/engine/vector/gpu/shared_loops.hpp"
#include "emulator/engine/vector/vector.hpp"
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

/// "gpu", "gpu-float" and "gpu-exact", also with a device behind a colon.
std::unique_ptr<Engine> make_gpu_engine(std::string_view name, Isa isa, bool jit) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view engine = name.substr(0, colon);
  if (engine != "gpu" && engine != "gpu-float" && engine != "gpu-exact") return nullptr;
  const Gpus gpus = open_gpus(name.substr(std::min(colon + 1, name.size())));
  if (engine == "gpu-exact") {
    // The device executes the steps of AVX2, and the host its part of a run.
    const Isa host = isa == Isa::Avx512 ? Isa::Avx2 : isa;
    return std::make_unique<VectorEngine>(host, jit, exact_loops_on(gpus),
                                          matmul_on(gpus, DeviceNumbers::Exact));
  }
  const bool doubles = engine == "gpu";
  const gpu::DeviceInfo& first = gpus.front()->device->info();
  if (!of_one_kind(gpus))
    throw Error(ErrorCategory::Unsupported,
                "the GPUs " + description(gpus) +
                    " are of different kinds, whose roots differ in the last places; give GPUs of "
                    "one kind, or use the engine gpu-exact");
  if (doubles && !first.has_doubles)
    throw Error(ErrorCategory::Unsupported,
                gpu::label(first) + " has no doubles; use the engine gpu-float");
  return std::make_unique<NativeEngine>(isa, doubles ? Precision::Double : Precision::Float, gpus,
                                        std::make_shared<VectorEngine>(isa));
}

}  // namespace

std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa, bool jit) {
  if (auto engine = make_gpu_engine(name, isa, jit)) return engine;
  for (const NativeNumbers& e : native_engines)
    if (name == e.name)
      return std::make_unique<NativeEngine>(isa, e.precision, e.mode,
                                            std::make_shared<VectorEngine>(isa));
  return nullptr;
}

}  // namespace gdr::native
