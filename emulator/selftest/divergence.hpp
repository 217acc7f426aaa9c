// The first difference between two engines: instruction, PE, element and word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/selftest/case.hpp"

namespace gdr::selftest {

struct Divergence {
  Section section = Section::Body;
  std::uint64_t iteration = 0;  ///< counted from 0
  std::size_t instruction = 0;  ///< index in its section
  std::string text;             ///< the instruction as assembly
  /// The instruction leaves different words even when it runs alone, on the state that the
  /// reference reached. Else only the section as a whole does, and `instruction` is the last one of
  /// the shortest part of it that does.
  bool alone = false;

  std::string memory;  ///< "register", "local", "t", "mask", "bm", "flags"
  std::string place;   ///< the location as an operand, `$lr12`; or as a name, `m3`
  std::uint32_t pe = 0;
  std::uint32_t address = 0;  ///< in shorts; of "t" two an element, of "mask" four a mask
  int element = -1;           ///< -1 where the instruction's destinations do not tell
  Width width = Width::Short;
  Long expected, got;  ///< words of that width; a short in the low bits
  /// Operands of the instruction in this PE and element, before it: `$r4 = 3ff800000 = 1.5`.
  std::vector<std::string> operands;
};

/// Nothing if the engines agree on the case.
std::optional<Divergence> find_divergence(const Engine& reference, const Engine& other,
                                          const Case& test);

/// A word in hex and as a floating-point number: `3ff800000 = 1.5`.
std::string word_text(Long word, Width width);

std::string_view section_name(Section section) noexcept;

}  // namespace gdr::selftest
