// Instruction words: 512 bits as eight 64-bit words. The layout is this project's own (no public
// bit-level encoding of the original exists); docs/reference/instruction-set.md is generated from
// `encoding_fields`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "emulator/isa/instruction.hpp"

namespace gdr {

using EncodedInstruction = std::array<std::uint64_t, 8>;

/// One field of the instruction word, for the reference page.
struct EncodingField {
  std::string_view name;
  std::uint8_t word, low_bit, bits;
  std::string_view meaning;
};
std::span<const EncodingField> encoding_fields() noexcept;

EncodedInstruction encode(const Instruction& instruction) noexcept;

/// The instruction of a word, or nothing with a reason in `why`. Unknown opcodes, operations in a
/// wrong slot, invalid spaces of operands, longs at odd addresses and set bits outside the fields
/// in use are rejected, so that decode(encode(i)) == i for every instruction that can be written,
/// and encode(decode(w)) == w for every word accepted.
std::optional<Instruction> decode(const EncodedInstruction& word, std::string& why);

}  // namespace gdr
