#include "emulator/engine/native/program/program.hpp"

#include <utility>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/native/program/program_analysis.hpp"

namespace gdr::native {

CompiledProgram::CompiledProgram(const Program& program, const Geometry& geometry, Target wanted,
                                 Gpus wanted_gpus)
    : map(geometry), target(wanted), gpus(std::move(wanted_gpus)) {
  const ProgramAnalysis analysis(program, geometry, target.longs_are_doubles);
  for (std::size_t s = 0; s < section_count; ++s) {
    parts[s].reason = analysis.reason(s);
    if (analysis.model(s) == nullptr) continue;
    parts[s].section = std::make_unique<CompiledSection>(
        *analysis.model(s), analysis.liveness(s), analysis.tables(s), Section(s) == Section::Body,
        target, analysis.model(Section::Start));
  }
  const CompiledSection* const start = section(Section::Start);
  const CompiledSection* const body = section(Section::Body);
  fusable = start != nullptr && body != nullptr && section(Section::End) != nullptr &&
            start->kernels().empty() && uses_fixed_words_only(program, Section::Start) &&
            uses_fixed_words_only(program, Section::End);
  if (fusable) parts[index_of(Section::Body)].section->set_previous(*start);
}

}  // namespace gdr::native
