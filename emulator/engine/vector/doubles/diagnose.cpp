// The first instruction of a failed run whose result is not exact in doubles.
#include <optional>
#include <string>

#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/engine/vector/doubles/frame.hpp"

namespace gdr {
namespace {

/// Texts for MXCSR's flags (in the order of their bits) and DoublesFailure.
std::string meaning(unsigned flags, std::uint64_t failure) {
  if ((flags & 0x08) != 0) return "a number is too large for doubles";
  if ((flags & 0x10) != 0) return "a number is too small for doubles";
  if ((flags & 0x01) != 0) return "an operand is infinite or NaN";
  if ((flags & 0x20) != 0 || (failure & inexact) != 0)
    return "a result is inexact in doubles, infinite or NaN";
  return "a long has more bits than a double, or is -0";
}

/// Section, instruction and source line of an operation.
std::string describe(const Program& program, const OpOrigin& place) {
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

}  // namespace

std::string diagnose(const Program& program, const DoublesSection& section,
                     const DoublesKernels& kernels, BlockState& block, const BlockRun& run,
                     SourceLanes sources) {
  Frame frame(section, kernels, block, run, sources);
  std::optional<OpOrigin> place;
  const auto fails_in = [&](const OpList& list) {
    for (std::size_t n = 0; n + 1 < list.ops.size(); ++n) {
      if (list.ops[n].kernel == pause) continue;
      const DoublesOp one[2] = {list.ops[n], plain_operation(stop)};
      one[0].kernel(one[0], frame.run());
      if (frame.failure() == 0) continue;
      place = list.origins[n];
      return true;
    }
    return false;
  };
  const auto fails_in_pass = [&](const OpList& list) {
    if (fails_in(list)) return true;
    frame.next_group();
    return false;
  };
  bool found = !frame.import() || fails_in(section.before);
  std::uint64_t left = run.iterations;
  const std::uint64_t last = section.last_count(run);
  found = found || (left > last && fails_in(section.enter));
  for (; left > last && !found; --left) found = fails_in_pass(section.pass);
  for (; left > 0 && !found; --left) found = fails_in_pass(section.last);
  if (!found && !fails_in(section.after)) frame.test_export();
  frame.restore_memory();
  kernels.leave();
  const std::string where =
      place ? describe(program, *place) : "a word that the section reads or writes";
  return where + ": " + meaning(raised_flags() & kernels.failure_flags, frame.run().failure);
}

}  // namespace gdr
