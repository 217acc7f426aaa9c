// Text of a self-test failure.
#include <fmt/format.h>

#include "emulator/assembler/assembler.hpp"
#include "emulator/selftest/selftest.hpp"

namespace gdr::selftest {
namespace {

std::string divergence_text(const Divergence& d, std::string_view engine) {
  std::string text = fmt::format("  section {}, iteration {}, instruction {}: {}\n",
                                 section_name(d.section), d.iteration, d.instruction, d.text);
  if (!d.alone) {
    text += "  by itself it leaves the same words; only with what runs before it does it differ\n";
  }
  text += fmt::format("  PE {}", d.pe);
  if (d.element >= 0) text += fmt::format(", element {}", d.element);
  text += fmt::format(", {} ({} address {})\n", d.place, d.memory, d.address);
  text += fmt::format("    {:<10} {}\n", "reference", word_text(d.expected, d.width));
  text += fmt::format("    {:<10} {}\n", engine, word_text(d.got, d.width));
  for (const std::string& operand : d.operands) text += fmt::format("    {}\n", operand);
  return text;
}

/// What of the run cannot be seen in the program.
std::string run_text(const Case& test) {
  const BlockRun& r = test.run;
  return fmt::format("# {} PE{}, {} iteration{}, sources at {} + {} n, outputs at {} + {} n{}\n",
                     test.state.pes, test.state.pes == 1 ? "" : "s", r.iterations,
                     r.iterations == 1 ? "" : "s", r.source_base, r.source_step, r.output_base,
                     r.output_step, r.collect_flags ? ", flags collected" : "");
}

}  // namespace

std::string failure_text(const Failure& f) {
  const std::string engine = fmt::format("{}/{}", f.engine, isa_name(f.isa));
  return fmt::format(
      "{} leaves another state than reference\n"
      "case: {} seed {}: {}\n"
      "first difference\n{}"
      "shrunk, first difference\n{}"
      "shrunk program\n{}{}",
      engine, f.category, f.seed, f.what, divergence_text(f.first, f.engine),
      divergence_text(f.in_shrunk, f.engine), run_text(f.shrunk), disassemble(f.shrunk.program));
}

}  // namespace gdr::selftest
