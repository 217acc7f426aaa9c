#include "emulator/engine/vector/doubles/failure_text.hpp"

namespace gdr {

std::string failure_text(unsigned flags, std::uint64_t failure) {
  if ((flags & 0x08) != 0) return "a number is too large for doubles";
  if ((flags & 0x10) != 0) return "a number is too small for doubles";
  if ((flags & 0x01) != 0) return "an operand is infinite or NaN";
  if ((flags & 0x20) != 0 || (failure & inexact) != 0)
    return "a result is inexact in doubles, infinite or NaN";
  return "a long has more bits than a double, or is -0";
}

std::string place_text(const Program& program, const OpOrigin& place) {
  const auto section = static_cast<unsigned>(place.section);
  std::string where = std::string(section_names[section]) + ", ";
  const auto& lines = program.lines[section];
  if (place.instruction >= program.sections[section].size()) return where + "at its end";
  where += "instruction " + std::to_string(place.instruction);
  if (place.instruction < lines.size() && lines[place.instruction].line != 0) {
    const SourceLine line = lines[place.instruction];
    where += ", ";
    if (line.file < program.files.size()) where += program.files[line.file] + ":";
    where += std::to_string(line.line);
  }
  return where;
}

}  // namespace gdr
