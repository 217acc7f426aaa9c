#include "emulator/engine/native/by_name.hpp"

#include "emulator/engine/native/native.hpp"

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

}  // namespace

std::unique_ptr<Engine> make_native_engine(std::string_view name, Isa isa) {
  for (const NativeNumbers& e : native_engines)
    if (name == e.name) return std::make_unique<NativeEngine>(isa, e.precision, e.mode);
  return nullptr;
}

}  // namespace gdr::native
