// Locations of words that a user names: variables of the kernel, and memories as in assembly.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/debugger.hpp"
#include "libgdr/cli/dump.hpp"

namespace gdr::cli {

/// How words are written. Without a format a number is a float if its bits look like one.
struct WordFormat {
  std::optional<DumpFormat> format;
  unsigned point = 0;  ///< Fixed: bits below the binary point
};

/// The format of a declared conversion, e.g. "f64to72"; none for an empty text.
WordFormat format_of(std::string_view conversion);
/// `hex`, `int`, `float` or `fixed.N`; nothing for another word. Throws Error (Usage) for a wrong
/// N.
std::optional<WordFormat> parse_format(std::string_view word);

/// The PEs that a location is meant for.
struct PeChoice {
  std::size_t block = 0, pe = 0;
  bool all_blocks = false, all_pes = false;
};

/// Words of one memory that have a name in common.
struct Location {
  std::string name;  ///< name in the user's spelling
  std::string kind;  ///< kind of a variable, as in MachineVariable; else empty
  std::string reduction;
  MachineMemory memory = MachineMemory::Registers;
  bool is_long = true;
  std::vector<std::size_t> addresses;  ///< addresses in shorts; of a mask in elements
  WordFormat format;

  /// Name of a word: "ax[2]", or the name itself if it has one word.
  std::string word_name(std::size_t k) const;
  /// The words in the chosen PEs, address by address.
  std::vector<MachineWord> words(const Machine& machine, const PeChoice& choice) const;
};

/// A variable or another name of the kernel, optionally with `[ELEMENT]`, `@ITEM`, `.hi` or `.lo`;
/// a location as in assembly, `$lr8`, `$m4v`, `$th`, `$lb10`, also without the dollar sign; a mask,
/// `m0`. Throws Error (Usage) with the nearest known name.
Location parse_location(const Machine& machine, const Program& program, std::string_view text);

/// The location of a word as in assembly: `$lr8`, `m0[2]`.
std::string location_text(const MachineWord& word);
/// Its place: "block 0, PE 3", or "block 0" for the broadcast memory.
std::string pe_text(const MachineWord& word);

/// A word as text. `brief`: floats to seven digits.
std::string value_text(const MachineBits& bits, const MachineWord& word, const WordFormat& format,
                       bool brief = false);
/// A word as a number; without a format as a float.
long double number_of(const MachineBits& bits, const MachineWord& word, const WordFormat& format);
/// The bits in hex; of a mask 0 or 1.
std::string hex_text(const MachineBits& bits, const MachineWord& word);
/// The bits of a number that a user has written: decimal, or 0x and hex digits, for a word with
/// this format. Throws Error (Usage).
MachineBits parse_value(std::string_view text, const MachineWord& word, const WordFormat& format);

}  // namespace gdr::cli
