#include "emulator/selftest/case.hpp"

namespace gdr::selftest {

BlockState run_case(const Engine& engine, const Case& test) {
  BlockState state = test.state;
  const auto executable = engine.prepare(test.program, test.geometry);
  for (const Section section : {Section::Init, Section::Start, Section::Body, Section::End}) {
    if (test.program.section(section).empty()) continue;
    BlockRun run = test.run;
    run.section = section;
    if (section != Section::Body) run.iterations = 1;
    const bool split = section == Section::Body && test.split > 0 && test.split < run.iterations;
    if (split) {
      run.iterations = test.split;
      executable->run(state, run);
      const auto done = static_cast<std::uint32_t>(test.split);
      run.source_base += done * run.source_step;
      run.output_base += done * run.output_step;
      run.iterations = test.run.iterations - test.split;
    }
    executable->run(state, run);
  }
  return state;
}

bool agree(const Engine& reference, const Engine& other, const Case& test) {
  return run_case(reference, test) == run_case(other, test);
}

std::uint64_t operations_of(const Case& test) noexcept {
  std::uint64_t sum = 0;
  for (unsigned s = 0; s < section_count; ++s) {
    const bool body = static_cast<Section>(s) == Section::Body;
    for (const Instruction& i : test.program.sections[s]) {
      const unsigned slots =
          (i.mul.used() ? 1U : 0U) + (i.alu.used() ? 1U : 0U) + (i.move.used() ? 1U : 0U);
      sum += (body ? test.run.iterations : 1) * i.vlen * slots;
    }
  }
  return sum * test.state.pes;
}

BlockState empty_block(const Geometry& geometry) {
  Geometry one = geometry;
  one.blocks = 1;
  return make_chip(one).blocks[0];
}

void append(Program& program, Section section, const Instruction& instruction) {
  program.section(section).push_back(instruction);
  program.lines[static_cast<unsigned>(section)].emplace_back();
}

}  // namespace gdr::selftest
