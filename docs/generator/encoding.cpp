// The section about the encoding: the fields of the instruction word and of an operand.
#include "emulator/isa/encoding.hpp"

#include <fmt/format.h>

#include "docs/generator/pages.hpp"

namespace gdr::docs {
namespace {

constexpr std::string_view introduction = R"(
## Encoding

An instruction has 512 bits, stored as eight 64-bit words. **The layout is this project's own**: no
bit-level encoding of the original chip is public. It leaves space, so that a field has the same
meaning in every instruction and larger geometries fit. Bits that belong to no field in use are
zero; a word with any of them set is rejected.

| field | word | bits | meaning |
|---|---|---|---|
)";

constexpr std::string_view operands = R"(
### Operand fields

An operand is 22 bits; all are zero where there is none.

| bits | meaning |
|---|---|
| 3:0 | space, below |
| 4 | width: 0 short, 1 long |
| 5 | 1: vector, the address advances by the width from element to element |
| 21:6 | address in shorts |

| space | location |
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

Each operation above lists its opcode.
)";

}  // namespace

std::string encoding_section() {
  std::string text(introduction);
  for (const EncodingField& f : encoding_fields()) {
    const std::string bits = f.bits == 1 ? fmt::format("{}", f.low_bit)
                                         : fmt::format("{}:{}", f.low_bit + f.bits - 1, f.low_bit);
    text += fmt::format("| `{}` | {} | {} | {} |\n", f.name, f.word, bits, f.meaning);
  }
  return text + std::string(operands);
}

}  // namespace gdr::docs
