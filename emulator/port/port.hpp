// The chip's port: conversion of arrays of link words to machine words and back.
//
// `to_machine` and `to_host` are the definition; results are the same bits. The conversions of
// force kernels have specialised loops, because a call per value would dominate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

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
  std::int32_t key = -1;    ///< reduction Index: the field of the key, in the same list
};
/// The fields of a list of LinkLayout.
std::vector<PortField> port_fields(const Program& program,
                                   const std::vector<LinkLayout::Field>& fields,
                                   Isa isa = Isa::Portable);

/// Records on the link: value i is in the record at `words + i * stride`.
struct LinkIn {
  const std::uint64_t* words;
  std::size_t stride;
};
struct LinkOut {
  std::uint64_t* words;
  std::size_t stride;
};

/// Shorts of the machine: value i is at `shorts + i * stride`, the lower half of a long at offset
/// `lower` from its upper half.
template <typename Word>
struct Lanes {
  Word* shorts;
  std::size_t stride;
  std::size_t lower;
};

/// Converts n values of the host to machine words.
void port_load(const PortField& field, LinkIn from, std::size_t n,
               const Lanes<std::uint64_t>& to) noexcept;
/// Whether the first `adjacent_words` fields are doubles, or integers, consecutive in a record.
constexpr std::size_t adjacent_words = 8;
bool begins_with_adjacent_words(std::span<const PortField> fields) noexcept;
/// port_load for adjacent fields, which visits each cache line once. The values of field k are
/// written to `upper[k]`, lower halves of longs at offset `lower`.
void port_load_words(std::span<const PortField> fields, LinkIn from, std::size_t n,
                     std::span<std::uint64_t* const, adjacent_words> upper,
                     std::size_t lower) noexcept;
/// Converts n machine words for the host. The records must be zero where floats are packed.
void port_store(const PortField& field, const Lanes<const std::uint64_t>& from, std::size_t n,
                LinkOut to) noexcept;

/// One value's host bits in a record.
u128 host_bits(const PortField& field, const std::uint64_t* record) noexcept;
void put_host_bits(const PortField& field, u128 host, std::uint64_t* record) noexcept;

/// A machine word of the field as input of the reduction network: short floats are widened, short
/// integers sign-extended.
Long network_word(const PortField& field, u128 word) noexcept;
/// A word of the network, converted for the host.
u128 network_to_host(const PortField& field, Long word) noexcept;

/// The lanes of all PEs of a location in register file, local memory or T.
template <typename Block>
auto pe_lanes(Block& block, const Operand& location, unsigned element) noexcept {
  const auto lanes = [&block](auto& shorts, std::size_t row) {
    return Lanes<std::remove_pointer_t<decltype(shorts.data())>>{shorts.data() + row * block.pes, 1,
                                                                 block.pes};
  };
  if (location.space == Space::Register) return lanes(block.registers, location.at(element));
  if (location.space == Space::T) return lanes(block.t, element * 2 + location.address);
  return lanes(block.local, location.at(element));
}

/// Writes a parameter to a block: to a word of its BM, or to every PE.
void load_param(const PortField& field, unsigned elements, BlockState& block,
                const std::uint64_t* record) noexcept;

}  // namespace gdr
