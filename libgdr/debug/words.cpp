#include "libgdr/debug/words.hpp"

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Whether the word has two halves. Throws Error (Usage) for a long at an odd address.
bool has_halves(const MachineWord& word) {
  const bool halves = word.is_long && word.memory != MachineMemory::Masks;
  if (halves && word.address % 2 != 0)
    throw Error(ErrorCategory::Usage,
                "a long has an even address, not " + std::to_string(word.address));
  return halves;
}

}  // namespace

MachineBits bits_of(const Machine& machine, const MachineWord& word) {
  const auto half = [&](std::size_t address) {
    return machine.word(word.memory, word.block, address, word.pe);
  };
  if (!has_halves(word)) return {0, half(word.address)};
  return {half(word.address), half(word.address + 1)};
}

void set_bits(Machine& machine, const MachineWord& word, const MachineBits& bits) {
  const MachineBits old = bits_of(machine, word);  // checks the location
  const auto set = [&](std::size_t address, std::uint64_t half) {
    machine.set_memory(word.memory, word.block, address, word.pe, half);
  };
  if (!has_halves(word)) {
    if (bits.upper != 0)
      throw Error(ErrorCategory::Usage, "the word has too many bits for the location");
    return set(word.address, bits.lower);
  }
  set(word.address, bits.upper);
  try {
    set(word.address + 1, bits.lower);
  } catch (...) {
    set(word.address, old.upper);
    throw;
  }
}

}  // namespace gdr
