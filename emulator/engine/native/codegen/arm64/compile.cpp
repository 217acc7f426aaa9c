// Kernels for this host, where it is arm64.
#include "emulator/engine/native/codegen/arm64/assemble.hpp"
#include "emulator/host/executable_code.hpp"

namespace gdr::native {

CompiledKernel compile_kernel(const CodeContext& context, std::uint32_t copies) {
  const Arm64Code code = assemble_arm64(context, copies);
  std::shared_ptr<const std::byte> memory = executable_copy(code.words);
  if (memory == nullptr) throw Unsupported("no machine code can be generated");
  const auto function =
      reinterpret_cast<KernelFunction>(reinterpret_cast<std::uintptr_t>(memory.get()));
  return {function, code.copies, code.words.size() * sizeof code.words[0], code.spill_bytes,
          std::move(memory)};
}

}  // namespace gdr::native
