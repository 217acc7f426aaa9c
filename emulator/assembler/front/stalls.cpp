#include "emulator/assembler/front/stalls.hpp"

namespace gdr::assembly {
namespace {

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

/// Source span of the operand that makes an access.
SourceSpan span_of(const InstructionSpans& spans, const Instruction& instruction,
                   const Access& access, unsigned element) {
  if (access.slot == 3) return spans.predicate;
  if (access.slot == 2) return spans.move.length != 0 ? spans.move : spans.whole;
  const Arithmetic& slot = access.slot == 0 ? instruction.mul : instruction.alu;
  const auto& operands = access.slot == 0 ? spans.mul : spans.alu;
  if (reads(slot.a, access, element)) return operands[0];
  if (reads(slot.b, access, element)) return operands[1];
  return spans.whole;
}

std::string clocks_text(unsigned clocks) {
  return clocks == 1 ? "one clock" : std::to_string(clocks) + " clocks";
}

/// Section and index of the reading instruction; for stalls at the end of Start it is in the body.
Writer reader_of(const Assembly& a, std::size_t section, const Pad& pad) {
  if (pad.index < a.program.sections[section].size())
    return {static_cast<std::uint8_t>(section), pad.index};
  return {static_cast<std::uint8_t>(Section::Body), pad.stall.reader};
}

void report_stall(Assembly& a, std::size_t section, const Pad& pad) {
  const Writer reader = reader_of(a, section, pad);
  const Writer writer = pad.stall.writer;
  const InstructionSpans& at = a.instruction_spans[reader.section][reader.index];
  const InstructionSpans& from = a.instruction_spans[writer.section][writer.index];
  const SourceSpan span = span_of(at, a.program.sections[reader.section][reader.index],
                                  pad.stall.read, pad.stall.element);
  const std::string& text = a.sources[span.source].text;
  const std::string operand = text.substr(span.offset, span.length);
  std::string label = "line " + std::to_string(from.whole.line) + " writes it";
  if (writer.section != reader.section) {
    label += std::string(" at the end of .").append(section_names[writer.section]);
  } else if (writer.index >= reader.index) {
    label += writer.section == static_cast<std::uint8_t>(Section::Body) ? " in the iteration before"
                                                                        : " in the run before";
  }
  Diagnostic& d = a.report.error(
      Code::ReadTooEarly, span,
      in_quotes(operand) + " is read " + clocks_text(pad.stall.clocks) + " before it is ready",
      label + "; it can be read " + std::to_string(result_latency) + " clocks later",
      "let the assembler insert idle clocks, or insert independent instructions");
  a.report.note(d, from.whole, "written here");
}

}  // namespace

void report_stalls(Assembly& a, const SectionPads& pads) {
  for (std::size_t s = 0; s < section_count; ++s) {
    for (const Pad& pad : pads[s]) report_stall(a, s, pad);
  }
}

}  // namespace gdr::assembly
