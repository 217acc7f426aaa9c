// The chip's port: link words to machine words and back, many at a time.
//
// Equal bit for bit to `to_machine` and `to_host`, which stay the definition; the conversions of
// force kernels have specialised loops, because a call per value would dominate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/chip/reduction.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/host/isa.hpp"
#include "emulator/port/partition.hpp"

namespace gdr {

/// A variable as a field of a port record.
struct PortField {
  Conversion conversion;
  Width width = Width::Long;
  Reduce reduce = Reduce::Pass;
  Operand location;
  std::uint32_t half_word = 0;  ///< offset in a record of the link, in 32-bit units
  Isa isa = Isa::Portable;  ///< host instruction set of conversions; the bits do not depend on it
};
PortField port_field(const Variable& variable, const LinkLayout::Field& field) noexcept;

/// Records on the link: value i stands in `words + i * stride`.
struct LinkIn {
  const std::uint64_t* words;
  std::size_t stride;
};
struct LinkOut {
  std::uint64_t* words;
  std::size_t stride;
};

/// Shorts of the machine: value i stands at `shorts + i * stride`, a long's lower half `lower`
/// places behind its upper half.
template <typename Word>
struct Lanes {
  Word* shorts;
  std::size_t stride;
  std::size_t lower;
};

/// Converts n values of the host to machine words.
void port_load(const PortField& field, LinkIn from, std::size_t n,
               const Lanes<std::uint64_t>& to) noexcept;
/// Whether a list of fields begins with this many doubles, or integers, that are consecutive in a
/// record.
constexpr std::size_t adjacent_words = 8;
bool begins_with_adjacent_words(std::span<const PortField> fields) noexcept;
/// port_load for adjacent fields: each cache line is visited once. A field's values go side by side
/// to `upper[k]`, a long's lower half `lower` places behind.
void port_load_words(std::span<const PortField> fields, LinkIn from, std::size_t n,
                     std::span<std::uint64_t* const, adjacent_words> upper,
                     std::size_t lower) noexcept;
/// Converts n machine words for the host. The records must be zero where floats are packed.
void port_store(const PortField& field, const Lanes<const std::uint64_t>& from, std::size_t n,
                LinkOut to) noexcept;

/// One value's host bits in a record.
u128 host_bits(const PortField& field, const std::uint64_t* record) noexcept;
void put_host_bits(const PortField& field, u128 host, std::uint64_t* record) noexcept;

/// A machine word of the field as the reduction network takes it: long, a short float widened, a
/// short integer with its sign.
Long network_word(const PortField& field, u128 word) noexcept;
/// A word of the network, converted for the host.
u128 network_to_host(const PortField& field, Long word) noexcept;

/// The lanes of all PEs of a location in register file, local memory or T.
Lanes<std::uint64_t> pe_lanes(BlockState& block, const Operand& location,
                              unsigned element) noexcept;
Lanes<const std::uint64_t> pe_lanes(const BlockState& block, const Operand& location,
                                    unsigned element) noexcept;

/// One value to a parameter's place in a block: a word of its BM, or every PE.
void load_param(const PortField& field, unsigned elements, BlockState& block,
                const std::uint64_t* record) noexcept;

}  // namespace gdr
