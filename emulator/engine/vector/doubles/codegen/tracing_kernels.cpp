// The kernels on doubles as functions that append their steps to a trace: some seven hundred
// instances of templates, each called once for an operation of a program. The build does not
// optimise them, which would take longer than all else of this folder.
#include "emulator/engine/lanes/doubles/kernels.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/doubles/codegen/traced_lanes.hpp"

namespace gdr::codegen {

const DoublesKernels& tracing_kernels(Isa isa) noexcept {
  static constexpr DoublesKernels avx512 =
      make_doubles_kernels<FlagSteps<TracedAvx512>>(wide_batch);
  static constexpr DoublesKernels tested =
      make_doubles_kernels<TestedSteps<TracedTests>>(wide_batch);
  return isa == Isa::Avx512 ? avx512 : tested;
}
const DoublesKernels& device_tracing_kernels() noexcept {
  static constexpr DoublesKernels kernels =
      make_doubles_kernels<DeviceSteps<TracedDevice>>(wide_batch);
  return kernels;
}

}  // namespace gdr::codegen
