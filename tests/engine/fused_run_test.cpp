// Fused runs of Start, body and End on the vector engine, with conversions of words between
// sections.
#include <algorithm>
#include <cstring>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "emulator/selftest/case.hpp"
#include "emulator/selftest/rng.hpp"
#include "kernels/builtin.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr {
namespace {

/// The streaming interface of an executable.
std::shared_ptr<const StreamingExecutable> streamed(const Engine& engine, const Program& program,
                                                    const Geometry& geometry) {
  return std::dynamic_pointer_cast<const StreamingExecutable>(engine.prepare(program, geometry));
}

using selftest::Rng;

/// Operands in few places, so that sections use the same ones: two longs of each memory, or their
/// halves.
Operand place(Rng& rng, Width width) {
  const Space space = rng.pick({Space::Register, Space::Register, Space::Local, Space::T});
  const std::uint32_t shorts = space == Space::T ? 2 : 4;
  const std::uint32_t unit = shorts_in(width);
  const auto address = static_cast<std::uint16_t>(rng.below(shorts / unit) * unit);
  return {space, width, space != Space::T && rng.chance(30), address};
}

Width width_of_run(Rng& rng) { return rng.chance(50) ? Width::Long : Width::Short; }

/// An operation on floats of any width, or on short integers, or a move of a long.
Instruction instruction(Rng& rng) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(rng.between(1, 2));
  const unsigned kind = rng.below(10);
  Arithmetic& slot = kind < 3 ? i.mul : i.alu;
  slot.op = kind < 3   ? rng.pick({Op::Fmul, Op::Fmul, Op::Dmul})
            : kind < 6 ? rng.pick({Op::Fadd, Op::Fsub, Op::Fmax})
            : kind < 8 ? rng.pick({Op::Iadd, Op::Iand, Op::Ishr, Op::Isub})
                       : Op::Ipass;
  const bool integer = kind >= 6 && kind < 8;
  slot.width = integer ? Width::Short : kind >= 8 ? Width::Long : width_of_run(rng);
  slot.dst = place(rng, slot.width);
  const auto operand = [&] { return place(rng, kind < 6 ? width_of_run(rng) : slot.width); };
  slot.a = operand();
  if (kind < 8) slot.b = operand();
  if (kind >= 8 && rng.chance(40)) {
    slot.a = {Space::Immediate, Width::Long};
    slot.immediate = rng.chance(50) ? Long{0} : long_from_double(1.5);
    if (rng.chance(60)) slot.mask = {rng.pick({MaskFlag::Zero, MaskFlag::Negative}), 1};
    if (rng.chance(30)) slot.dst = {};
  } else if (kind >= 3 && kind < 6 && rng.chance(20)) {
    slot.mask = {MaskFlag::Negative, 1};
  } else if (kind < 6 && rng.chance(15)) {
    slot.b = {Space::Immediate, width_of_run(rng)};
    const Long word = selftest::boundary_word(rng);
    slot.immediate = slot.b.width == Width::Long ? word : Long{upper_half(word).bits};
  } else if (kind >= 8 && rng.chance(20)) {
    slot.a = {Space::Immediate, Width::Long};
    slot.immediate = selftest::boundary_word(rng);
  }
  if (rng.chance(20)) i.predicate = {true, rng.chance(50), 1};
  return i;
}

Program random_program(Rng& rng) {
  Program p;
  p.name = "whole";
  p.item_shorts = 2;
  for (const Section section : {Section::Start, Section::Body, Section::End}) {
    for (unsigned n = rng.between(1, 3); n > 0; --n) {
      p.section(section).push_back(instruction(rng));
    }
  }
  Instruction get;
  get.vlen = 1;
  get.move = {Op::Bget, {Space::Register, Width::Long, false, 0}, {Space::BmSource}, 0};
  p.section(Section::Body).push_back(get);
  return p;
}

/// Sums of the large numbers exceed the range in which doubles round like shorts, which the engine
/// must detect.
void fill(Rng& rng, BlockState& block) {
  const double large = rng.chance(30) ? 0x1p997 : 1;
  for (auto* memory : {&block.registers, &block.local, &block.t}) {
    for (std::uint64_t& s : *memory) {
      Flags ignored = no_flags;
      const double scale = rng.chance(10) ? large : 1;
      const double x = (rng.chance(50) ? scale : -scale) * (1 + rng.below(1000) * 0x1p-10);
      const Short number = upper_half(short_from_double(x, ignored));
      // Halves of longs may be combined arbitrarily, and integers are arbitrary bits.
      s = rng.chance(93) ? number.bits : rng.chance(50) ? 0 : rng.below(1000);
    }
  }
  for (std::uint64_t& mask : block.masks) mask = rng.chance(50) ? ~std::uint64_t{0} : 0;
}

/// A run of one to three items on a block with few words, all of which contain numbers.
selftest::Case random_case(Rng& rng, const Program& program) {
  selftest::Case test;
  test.geometry.blocks = 1;
  test.geometry.pes_per_block = rng.pick({32U, 3U, 13U, 24U, 40U});
  test.geometry.register_words = test.geometry.local_words = 4;
  test.program = program;
  test.state = selftest::empty_block(test.geometry);
  fill(rng, test.state);
  if (rng.chance(30)) selftest::insert_boundary_words(test.state, rng, 1);
  test.run.iterations = rng.between(1, 3);
  test.run.source_base = 4;
  test.run.source_step = 2;
  for (unsigned g = 0; g < 3; ++g)
    write_bm(test.state, 4 + 2 * g, Width::Long, long_from_double(0.75 + g).bits);
  return test;
}

}  // namespace

namespace {

/// Executes a case on the state: fused, or section by section if the engine cannot, or its checks
/// fail. Returns whether the run was fused.
bool run_fused(const VectorEngine& engine, const selftest::Case& test, BlockState& state) {
  const auto executable = streamed(engine, test.program, test.geometry);
  bool whole = false;
  if (executable->max_fused_groups() > 0) {
    std::vector<std::byte> stream(test.run.iterations * executable->stream_bytes());
    executable->convert_sources(test.state.bm.data() + 4, test.run.iterations, 2, stream.data());
    BlockRun body = test.run;
    body.stream = {stream.data(), 4};
    whole = executable->run_program(state, body);
  }
  // A failed fused run leaves the state unchanged for the separate sections.
  if (!whole) {
    selftest::Case apart = test;
    apart.state = state;
    state = selftest::run_case(engine, apart);
  }
  return whole;
}

}  // namespace

TEST_CASE("fused runs leave the same state as separate sections") {
  std::vector<Isa> isas = host_isas();
  std::erase_if(isas, [](Isa isa) { return !can_verify_doubles(isa); });
  std::vector<std::uint64_t> done(isas.size());
  const auto reference = make_engine("reference");
  const std::uint64_t first = test::first_seed(), programs = test::test_iterations(300);
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const selftest::Case test = random_case(rng, random_program(rng));
    const BlockState expected = selftest::run_case(*reference, test);
    for (std::size_t n = 0; n < isas.size(); ++n) {
      CAPTURE(isa_name(isas[n]));
      BlockState got = test.state;
      const bool whole = run_fused(VectorEngine(isas[n]), test, got);
      done[n] += whole;
      if (got != expected) FAIL("done: " << whole);
    }
  }
  for (const std::uint64_t fused : done) CHECK(fused > programs / 40);
}

namespace {

/// Calls check(case) for every kernel of the library, with numbers everywhere, in some geometries.
template <typename Check>
void for_every_kernel(Check check) {
  for (const BuiltinKernel& kernel : builtin_kernels()) {
    CAPTURE(std::string(kernel.name));
    const AssembleResult assembled = assemble(kernel.source, std::string(kernel.name));
    REQUIRE(assembled.ok());
    const Program& program = *assembled.program;
    std::uint64_t seed = 0;
    for (const unsigned pes : {32U, 3U, 13U, 24U, 40U}) {
      Rng rng(seed++);
      selftest::Case test;
      test.geometry.blocks = 1;
      test.geometry.pes_per_block = pes;
      test.program = program;
      test.state = selftest::empty_block(test.geometry);
      for (auto* memory : {&test.state.registers, &test.state.local, &test.state.t}) {
        for (std::size_t n = 0; n < memory->size(); ++n) {
          const Long x = long_from_double((rng.between(1, 4000) - 2000.0) / 1024);
          const auto row = n / test.geometry.pes_per_block;
          (*memory)[n] = static_cast<std::uint64_t>(row % 2 == 0 ? x.bits >> 36 : 0);
        }
      }
      for (std::size_t n = 0; n < test.state.bm.size(); ++n) {
        const Long x = long_from_double(rng.between(1, 4000) / 512.0);
        test.state.bm[n] = static_cast<std::uint64_t>(n % 2 == 0 ? x.bits >> 36 : 0);
      }
      test.run.source_base = (program.fixed_shorts + 1) / 2 * 2;
      test.run.source_step = program.item_shorts * program.group;
      check(test);
    }
  }
}

}  // namespace

TEST_CASE(
    "compiled operations leave the same state as single ones, for every kernel of the library") {
  const std::vector<Isa> isas = host_isas();
  const bool there = std::count(isas.begin(), isas.end(), Isa::Avx512) != 0;
  if (!there || !can_verify_doubles(Isa::Avx512)) return;  // runs are not fused on this host
  for_every_kernel([](selftest::Case& test) {
    const auto of_single = VectorEngine(Isa::Avx512, false).prepare(test.program, test.geometry),
               of_fused = VectorEngine(Isa::Avx512, true).prepare(test.program, test.geometry);
    for (const Section section : {Section::Start, Section::Body, Section::End}) {
      test.run.section = section;
      test.run.iterations = section == Section::Body ? 3 : 1;
      BlockState apart = test.state;
      of_single->run(apart, test.run);
      BlockState fused = test.state;
      of_fused->run(fused, test.run);
      REQUIRE(fused == apart);
      test.state = fused;
    }
  });
}

namespace {

/// The shorts of a program's results, PE by PE.
std::vector<std::uint64_t> results_of(const Program& program, const BlockState& state) {
  std::vector<std::uint64_t> all;
  for (const Variable& v : program.variables) {
    if (v.kind != VarKind::Result) continue;
    for (unsigned e = 0; e < program.elements; ++e) {
      const Operand& x = v.location;
      const auto& memory = x.space == Space::Local ? state.local
                           : x.space == Space::T   ? state.t
                                                   : state.registers;
      const std::size_t row = x.space == Space::T ? 2 * e + x.address : x.at(e);
      const auto from = memory.begin() + static_cast<std::ptrdiff_t>(row * state.pes);
      all.insert(all.end(), from, from + std::ptrdiff_t{shorts_in(x.width)} * state.pes);
    }
  }
  return all;
}

/// Whether every word has its previous value or that of a complete run.
bool is_old_or_new(const BlockState& state, const BlockState& old, const BlockState& made) {
  const auto holds = [&](LaneMemory BlockState::*memory) {
    const LaneMemory &words = state.*memory, &before = old.*memory, &after = made.*memory;
    for (std::size_t n = 0; n < words.size(); ++n)
      if (words[n] != before[n] && words[n] != after[n]) return false;
    return true;
  };
  return holds(&BlockState::registers) && holds(&BlockState::local) && holds(&BlockState::t) &&
         holds(&BlockState::masks);
}

/// Executes fused runs of a case, complete and results-only: results are equal, and other words may
/// keep their values. False if the engine does not support it.
bool results_only_suffice(const StreamingExecutable& executable, const selftest::Case& test) {
  if (executable.stream_bytes() == 0) return false;
  std::vector<std::byte> stream(test.run.iterations * executable.stream_bytes() + 64);
  executable.convert_sources(test.state.bm.data() + test.run.source_base, test.run.iterations,
                             test.run.source_step, stream.data());
  BlockRun body = test.run;
  body.section = Section::Body;
  body.stream = {stream.data(), test.run.source_base};
  BlockState all = test.state, some = test.state;
  if (executable.max_fused_groups() < body.iterations || !executable.run_program(all, body))
    return false;
  body.results_only = true;
  // Unobserved lanes have other numbers in such a run, which need not be verified.
  if (!executable.run_program(some, body)) return false;
  REQUIRE(results_of(test.program, some) == results_of(test.program, all));
  REQUIRE(is_old_or_new(some, test.state, all));
  return true;
}

}  // namespace

TEST_CASE("results-only runs leave exact results and no other changes than documented") {
  for (const Isa isa : host_isas()) {
    if (!can_verify_doubles(isa)) continue;
    CAPTURE(isa_name(isa));
    unsigned kernels = 0, programs = 0;
    for_every_kernel([&](selftest::Case& test) {
      test.run.iterations = 3;
      const auto executable = streamed(VectorEngine(isa), test.program, test.geometry);
      kernels += results_only_suffice(*executable, test);
    });
    const std::uint64_t first = test::first_seed(), count = test::test_iterations(150);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      CAPTURE(seed);
      Rng rng(seed);
      Program program = random_program(rng);
      Variable result;
      result.name = "r";
      result.kind = VarKind::Result;
      result.location = place(rng, width_of_run(rng));
      result.location.vector = false;
      program.elements = 1;
      program.variables = {result};
      const selftest::Case test = random_case(rng, program);
      programs +=
          results_only_suffice(*streamed(VectorEngine(isa), test.program, test.geometry), test);
    }
    CAPTURE(programs);
    CHECK(kernels > 20);
    CHECK(programs > count / 40);
  }
}

namespace {

/// A Start that only writes constants to some places.
void clear_some(Rng& rng, Program& program) {
  program.section(Section::Start).clear();
  for (unsigned n = rng.between(1, 4); n > 0; --n) {
    Instruction i;
    i.vlen = static_cast<std::uint8_t>(rng.between(1, 2));
    i.alu.op = Op::Ixor;
    i.alu.width = width_of_run(rng);
    i.alu.dst = place(rng, i.alu.width);
    i.alu.a = i.alu.b = {Space::Immediate, i.alu.width};
    if (rng.chance(50)) {
      i.alu.op = Op::Ipass;
      i.alu.b = {};
      const Long number = long_from_double(rng.below(1000) * 0x1p-4);
      i.alu.immediate = number;
      if (i.alu.width == Width::Short) i.alu.immediate.bits = upper_half(number).bits;
    }
    program.section(Section::Start).push_back(i);
  }
}

/// One run of a case, fused if possible, and section by section, on the same stream.
struct BothWays {
  BlockState whole, apart;
  bool done = false;
};

BothWays run_both_ways(const StreamingExecutable& executable, const selftest::Case& test) {
  BothWays ways{test.state, test.state, false};
  if (executable.stream_bytes() == 0) return ways;
  std::vector<std::byte> stream(test.run.iterations * executable.stream_bytes() + 64);
  const bool fits =
      executable.convert_sources(test.state.bm.data() + test.run.source_base, test.run.iterations,
                                 test.run.source_step, stream.data());
  BlockRun body = test.run;
  body.section = Section::Body;
  body.stream = {stream.data(), test.run.source_base};
  if (!fits || executable.max_fused_groups() < body.iterations) return ways;
  ways.done = executable.run_program(ways.whole, body);
  for (const Section section : {Section::Start, Section::Body, Section::End}) {
    BlockRun run = body;
    run.section = section;
    if (section != Section::Body) run.stream = {};
    if (section != Section::Body) run.iterations = 1;
    executable.run(ways.apart, run);
  }
  return ways;
}

}  // namespace

TEST_CASE("fused runs in fast numerics leave the same words as separate sections") {
  for (const Isa isa : host_isas()) {
    CAPTURE(isa_name(isa));
    for (const char* name : {"native", "native-float"}) {
      const std::unique_ptr<Engine> engine = make_engine(name, isa_name(isa));
      unsigned kernels = 0, programs = 0;
      for_every_kernel([&](selftest::Case& test) {
        test.run.iterations = 3;
        const auto executable = streamed(*engine, test.program, test.geometry);
        const BothWays ways = run_both_ways(*executable, test);
        if (!ways.done) return;
        ++kernels;
        REQUIRE(ways.whole == ways.apart);
      });
      const std::uint64_t first = test::first_seed(), count = test::test_iterations(200);
      for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Rng rng(seed);
        Program program = random_program(rng);
        clear_some(rng, program);
        const selftest::Case test = random_case(rng, program);
        const BothWays ways = run_both_ways(*streamed(*engine, test.program, test.geometry), test);
        if (!ways.done) continue;
        ++programs;
        if (ways.whole != ways.apart) FAIL("seed " << seed);
      }
      CHECK(kernels > 20);
      CAPTURE(programs);
      CHECK(programs > count / 60);
    }
  }
}

}  // namespace gdr
