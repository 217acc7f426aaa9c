#include "emulator/assembler/front/stalls.hpp"

namespace gdr::assembly {
namespace {

constexpr const char* section_names[section_count] = {".init", ".start", ".body", ".end"};

bool reads(const Operand& x, const Access& access, unsigned element) noexcept {
  switch (access.what) {
    case Access::What::Register:
      return x.space == Space::Register && x.at(element) == access.address;
    case Access::What::Local:
      return x.space == Space::LocalByT ||
             (x.space == Space::Local && x.at(element) == access.address);
    case Access::What::T:
      return x.space == Space::T || x.space == Space::LocalByT;
    default:
      return false;
  }
}

/// The operand in the text that makes an access.
Place place_of(const InstructionPlaces& places, const Instruction& instruction,
               const Access& access, unsigned element) {
  if (access.slot == 3) return places.predicate;
  if (access.slot == 2) return places.move.length != 0 ? places.move : places.whole;
  const Arithmetic& slot = access.slot == 0 ? instruction.mul : instruction.alu;
  const auto& spans = access.slot == 0 ? places.mul : places.alu;
  if (reads(slot.a, access, element)) return spans[0];
  if (reads(slot.b, access, element)) return spans[1];
  return places.whole;
}

std::string clocks_text(unsigned clocks) {
  return clocks == 1 ? "one clock" : std::to_string(clocks) + " clocks";
}

/// The section and index of the instruction that reads: of the body, for waits at the end of Start.
Writer reader_of(const Assembly& a, std::size_t section, const Pad& pad) {
  if (pad.index < a.program.sections[section].size())
    return {static_cast<std::uint8_t>(section), pad.index};
  return {static_cast<std::uint8_t>(Section::Body), pad.wait.reader};
}

void report_stall(Assembly& a, std::size_t section, const Pad& pad) {
  const Writer reader = reader_of(a, section, pad);
  const Writer writer = pad.wait.writer;
  const InstructionPlaces& at = a.places[reader.section][reader.index];
  const InstructionPlaces& from = a.places[writer.section][writer.index];
  const Place place = place_of(at, a.program.sections[reader.section][reader.index], pad.wait.read,
                               pad.wait.element);
  const std::string& text = a.sources[place.source].text;
  const std::string operand = text.substr(place.offset, place.length);
  std::string label = "line " + std::to_string(from.whole.line) + " writes it";
  if (writer.section != reader.section) {
    label += std::string(" at the end of ") + section_names[writer.section];
  } else if (writer.index >= reader.index) {
    label += writer.section == static_cast<std::uint8_t>(Section::Body) ? " in the iteration before"
                                                                        : " in the run before";
  }
  Diagnostic& d = a.report.error(
      Code::ReadTooEarly, place,
      in_quotes(operand) + " is read " + clocks_text(pad.wait.clocks) + " before it is ready",
      label + "; it can be read " + std::to_string(result_latency) + " clocks later",
      "let the assembler pad, or put an independent instruction between");
  a.report.note(d, from.whole, "written here");
}

}  // namespace

void report_stalls(Assembly& a, const SectionPads& pads) {
  for (std::size_t s = 0; s < section_count; ++s) {
    for (const Pad& pad : pads[s]) report_stall(a, s, pad);
  }
}

}  // namespace gdr::assembly
