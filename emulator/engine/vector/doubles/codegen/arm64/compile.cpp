// Verified operations for this host, where it is arm64.
#include "emulator/engine/vector/doubles/codegen/arm64/assemble.hpp"
#include "emulator/host/executable_code.hpp"

namespace gdr::codegen {

CompiledOperation assemble(const Trace& trace, Isa, std::uint32_t lanes, std::uint32_t scratch) {
  const Arm64Code code = assemble_arm64(trace, lanes, scratch);
  std::shared_ptr<const std::byte> memory = executable_copy(code.words);
  if (memory == nullptr) return {};
  const auto kernel =
      reinterpret_cast<DoublesKernel>(reinterpret_cast<std::uintptr_t>(memory.get()));
  return {kernel, code.scratch_bytes, std::move(memory)};
}

}  // namespace gdr::codegen
