// Dumps of a chip's memories as text, in several number formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/chip/state.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::cli {

enum class DumpMemory : std::uint8_t { Register, Local, T, Mask, Bm };
enum class DumpFormat : std::uint8_t { Hex, Float, Int, Fixed };

/// A request `--dump MEMORY[:RANGE][:PE,BLOCK[,CHIP[,BOARD]]][:FORMAT]`.
struct DumpRequest {
  std::string text;  ///< the request itself, for the heading
  DumpMemory memory = DumpMemory::Register;
  Width width = Width::Long;
  /// Addresses in shorts (T: 2 * element + half; masks: the mask), inclusive. None: all.
  std::optional<std::uint32_t> first, last;
  std::optional<std::uint32_t> pe = 0, block = 0;  ///< none: every one
  std::uint32_t chip = 0, board = 0;
  DumpFormat format = DumpFormat::Hex;
  unsigned point = 0;  ///< Fixed: bits below the binary point
};

/// MEMORY: r lr m lm t th tl b lb mask (as in assembly, with or without $), or a name declared in
/// the program. Throws Error (Usage) naming the part that is wrong.
DumpRequest parse_dump(std::string_view text, const Program& program);

/// The dump: a comment line, then `LOCATION BLOCK PE VALUE` a line (`-` for the PE of a broadcast
/// memory; a mask's value is one digit for each element). Throws Error (Usage) for an address, a PE
/// or a block that the chip does not have.
std::string dump_text(const DumpRequest& request, const ChipState& chip);

/// A word in a number format: hex digits, a decimal float, a signed integer, a fixed-point number.
std::string word_text(u128 word, Width width, DumpFormat format, unsigned point);

}  // namespace gdr::cli
