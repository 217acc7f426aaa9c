// Random programs on the native engine. Integers, moves and masks are exact there, too: those
// programs must leave the state of the reference engine, bit for bit. Numbers may differ by what
// shorts round away.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"
#include "engine/compare.hpp"
#include "support/catch.hpp"

namespace {

using namespace gdr;
using namespace gdr::test;

constexpr std::string_view names[] = {"native", "native-float"};

std::string text_of(const Program& program) {
  std::string text;
  for (const Instruction& i : program.section(Section::Body)) text += to_text(i) + '\n';
  return text;
}

/// Leaves integers, transfers to PEs, masks and predicates of a case.
void keep_integers(RandomCase& test) {
  std::vector<Instruction> kept;
  for (Instruction i : test.program.section(Section::Body)) {
    i.mul = {};
    if (info(i.alu.op).unit != Unit::Integer) i.alu = {};
    if (i.move.op == Op::Bput || i.move.bm.space == Space::BmOutput) i.move = {};
    if (!i.idle() && !uses_t_address(i)) kept.push_back(i);
  }
  test.program.section(Section::Body) = kept;
  test.program.lines[static_cast<unsigned>(Section::Body)].resize(kept.size());
  test.run.collect_flags = false;
}

TEST_CASE("random integer programs leave the same bits on the native engine") {
  const auto reference = make_engine("reference");
  for (const Isa isa : host_isas()) {
    for (const std::string_view name : names) {
      const auto engine = make_engine(name, isa_name(isa));
      std::uint64_t compiled = 0, exact = 0;
      for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        RandomCase test = random_case(seed, seed % 4 != 3);
        keep_integers(test);
        const BlockState expected = run_case(*reference, test);
        const auto executable = engine->prepare(test.program, test.geometry);
        BlockState got = test.state;
        executable->run(got, test.run);
        const SectionNote note = executable->notes()[static_cast<unsigned>(Section::Body)];
        compiled += note.runs;
        exact += note.exact_runs;
        if (got == expected) continue;
        const StateDifference d = *first_difference(expected, got);
        FAIL(name << ", " << isa_name(isa) << ", seed " << seed << ", " << test.run.iterations
                  << " iterations: " << d.memory << " PE " << d.pe << " address " << d.address
                  << ": " << std::hex << d.first << " became " << d.second << "; " << note.reason
                  << '\n'
                  << text_of(test.program));
      }
      INFO(name << ", " << isa_name(isa));
      CHECK(compiled > 100);
      CHECK(exact > 0);  // some shift or compare longs
    }
  }
}

}  // namespace
