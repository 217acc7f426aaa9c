// The page about the instruction word, and the list of generated pages.
#include <fmt/format.h>

#include "emulator/assembler/diagnostics/page.hpp"
#include "emulator/isa/encoding.hpp"
#include "kernels/compiler/diagnostics/page.hpp"
#include "libgdr/cli/reference.hpp"

namespace gdr::cli {
namespace {

constexpr std::string_view introduction = R"(# Encoding

Made by `gdr docs encoding` from the field table (`emulator/isa/encoding.cpp`); do not edit.

An instruction is 512 bits, held as eight 64-bit words. **The layout is this project's own**: no
bit-level encoding of the original chip is public. It is roomy on purpose, so that a field means the
same in every instruction and another geometry fits. Bits that no field in use owns are zero; a word
with any of them set is refused.

| field | word | bits | meaning |
|---|---|---|---|
)";

constexpr std::string_view operands = R"(
## Operands

An operand is 22 bits; all are zero where there is none.

| bits | meaning |
|---|---|
| 3:0 | space, below |
| 4 | width: 0 short, 1 long |
| 5 | 1: vector, the address advances by the width from element to element |
| 21:6 | address in shorts |

| space | what |
|---|---|
| 0 | no operand |
| 1 | register file |
| 2 | local memory |
| 3 | local memory at the address in T |
| 4 | T of the element: address 0 the long or its upper half, 1 the lower half |
| 5 | the slot's immediate |
| 6 | number of the PE in its block |
| 7 | number of the block |
| 8 | broadcast memory, fixed address |
| 9 | broadcast memory, relative to the group of j-items |
| 10 | broadcast memory, relative to the group of output items |

Opcodes stand with the operations in [isa.md](isa.md).
)";

}  // namespace

std::string encoding_page() {
  std::string text(introduction);
  for (const EncodingField& f : encoding_fields()) {
    const std::string bits = f.bits == 1 ? fmt::format("{}", f.low_bit)
                                         : fmt::format("{}:{}", f.low_bit + f.bits - 1, f.low_bit);
    text += fmt::format("| `{}` | {} | {} | {} |\n", f.name, f.word, bits, f.meaning);
  }
  return text + std::string(operands);
}

std::span<const ReferencePage> reference_pages() noexcept {
  static constexpr ReferencePage pages[] = {
      {"isa", isa_page},
      {"encoding", encoding_page},
      {"diagnostics", diagnostics_page},
      {"kernel-diagnostics", kc::kernel_diagnostics_page},
  };
  return pages;
}

}  // namespace gdr::cli
