#include "libgdr/driver/list_lengths.hpp"

#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"

namespace gdr::driver {

ProgramLengths program_lengths(std::span<const std::uint64_t> payload, std::uint64_t bytes) {
  ProgramLengths lengths;
  if (bytes > payload.size_bytes()) return lengths;
  try {
    const Program program =
        read_object(std::span(reinterpret_cast<const std::uint8_t*>(payload.data()), bytes));
    const LinkLayout layout = link_layout(program);
    lengths = {layout.target_words,
               layout.result_words,
               layout.output_words,
               words_of_target(layout, read_raw),
               {}};
    for (const LinkLayout::Field& f : layout.params)
      lengths.param_words.push_back((f.half_words + 1) / 2);
  } catch (const Error&) {
    return {};
  }
  return lengths;
}

std::uint64_t payload_length(const Command& c, const ProgramLengths& program) noexcept {
  switch (c.kind) {
    case CommandKind::LoadProgram:
      return c.count / 8 + (c.count % 8 != 0 ? 1 : 0);
    case CommandKind::WriteMemory:
      return c.count;
    case CommandKind::WriteTargets:
      return c.count * program.target_words;
    case CommandKind::WriteParam:
      return c.variable < program.param_words.size() ? program.param_words[c.variable] : 0;
    default:
      return 0;
  }
}

std::uint64_t result_length(const Command& c, const ProgramLengths& program) noexcept {
  switch (c.kind) {
    case CommandKind::ReadTargets:
      return c.count * ((c.flags & read_raw) != 0 ? program.raw_words : program.result_words);
    case CommandKind::ReadMemory:
      return c.count;
    case CommandKind::Run:
      return (c.flags & run_return) != 0 ? c.count * program.output_words : 0;
    default:
      return 0;
  }
}

}  // namespace gdr::driver
