// Random programs on the native engine. Integers, moves and masks are exact: the final state of
// such programs has the bits of the reference engine's. Numbers may differ by the rounding of
// shorts.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/host/hash.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"
#include "emulator/selftest/case.hpp"
#include "emulator/selftest/rng.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace {

using namespace gdr;
using selftest::Rng;

constexpr std::string_view names[] = {"native", "native-float"};

/// Programs of each kind.
std::uint64_t program_count() { return test::test_iterations(160); }

std::string text_of(const Program& program) {
  std::string text;
  for (const Instruction& i : program.section(Section::Body)) text += to_text(i) + '\n';
  return text;
}

/// Removes all instructions from a case but integers, transfers to PEs, masks and predicates.
void keep_integers(selftest::Case& test) {
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
  test.run.section = Section::Body;
  test.split = 0;
}

/// Runs of one seed's program on the native engines, which leave the bits of the reference.
void check_integers(std::uint64_t seed, std::map<std::string, SectionStats>& all) {
  selftest::Case test = selftest::program_case(seed, seed % 4 != 3);
  keep_integers(test);
  BlockState expected = test.state;
  make_engine("reference")->prepare(test.program, test.geometry)->run(expected, test.run);
  for (const Isa isa : host_isas()) {
    for (const std::string_view name : names) {
      const auto executable =
          make_engine(name, isa_name(isa))->prepare(test.program, test.geometry);
      BlockState got = test.state;
      executable->run(got, test.run);
      const SectionStats stats = executable->stats()[static_cast<unsigned>(Section::Body)];
      const std::string place = std::string(name) + ", " + std::string(isa_name(isa));
      all[place].runs += stats.runs;
      all[place].fallback_runs += stats.fallback_runs;
      if (got == expected) continue;
      const StateDifference d = *first_difference(expected, got);
      FAIL(place << ", seed " << seed << ", " << test.run.iterations << " iterations: " << d.memory
                 << " PE " << d.pe << " address " << d.address << ": " << std::hex << d.first
                 << " became " << d.second << "; " << stats.reason << '\n'
                 << text_of(test.program));
    }
  }
}

TEST_CASE("random integer programs leave the same bits on the native engine") {
  std::map<std::string, SectionStats> all;  // by engine and instruction set
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + program_count(); ++seed)
    check_integers(seed, all);
  for (const auto& [place, stats] : all) {
    INFO(place);
    CHECK(stats.runs > program_count() / 4);
    CHECK(stats.fallback_runs > 0);  // some shift longs by a variable number of bits
  }
}

TEST_CASE("a program whose Start leaves a word under the complement of a condition is prepared") {
  std::map<std::string, SectionStats> all;
  check_integers(207860046, all);
}

/// Programs of numbers: longs in the first half of the register file, shorts in the second, with
/// values near one, so that sums and products keep significant bits. Masks are computed from
/// integers, which are equal on all engines.
class NumberProgram {
 public:
  explicit NumberProgram(std::uint64_t seed) : rng_(seed) {
    geometry_.pes_per_block = rng_.between(1, 40);
    std::vector<Instruction>& body = program_.section(Section::Body);
    const std::uint32_t count = rng_.between(2, 9);
    while (body.size() < count) {
      const Instruction i = instruction();
      if (validate(i).empty()) body.push_back(i);
    }
    program_.lines[static_cast<unsigned>(Section::Body)].resize(body.size());
    program_.item_shorts = item_shorts;
  }

  const Program& program() const { return program_; }
  const Geometry& geometry() const { return geometry_; }
  BlockState state() {
    BlockState block = make_chip(geometry_).blocks[0];
    for (unsigned pe = 0; pe < block.pes; ++pe) {
      for (std::uint16_t a = 0; a < 32; a += 2) write(block, Space::Register, Width::Long, a, pe);
      for (std::uint16_t a = 32; a < 48; ++a) write(block, Space::Register, Width::Short, a, pe);
      for (std::uint16_t a = 48; a < 64; ++a) {
        block.registers[std::size_t{a} * block.pes + pe] = rng_.below(3);
      }
    }
    for (std::uint32_t a = 0; a + 1 < block.bm.size(); a += 2) {
      write_bm(block, a, Width::Long, long_from_double(value()).bits);
    }
    return block;
  }
  BlockRun run() {
    BlockRun run;
    run.iterations = rng_.between(0, 4);
    run.source_base = 64;
    run.source_step = item_shorts;
    return run;
  }

 private:
  static constexpr std::uint32_t item_shorts = 16;

  double value() {
    const double magnitude = 0.75 + static_cast<double>(rng_.below(1U << 24)) * 0x1p-25;
    return rng_.chance(50) ? magnitude : -magnitude;
  }
  void write(BlockState& block, Space space, Width width, std::uint16_t address, unsigned pe) {
    Flags flags = no_flags;
    const Long word =
        width == Width::Long ? long_from_double(value()) : short_from_double(value(), flags);
    const u128 bits = width == Width::Long ? word.bits : u128{upper_half(word).bits};
    write_location(block, {space, width, false, address}, pe, 0, bits);
  }
  /// A register for numbers of a width.
  Operand place(Width width) {
    Operand x{Space::Register, width, rng_.chance(60)};
    x.address =
        static_cast<std::uint16_t>(width == Width::Long ? 2 * rng_.below(12) : 32 + rng_.below(12));
    return x;
  }
  Operand number(Arithmetic& slot) {
    Operand x = place(rng_.chance(50) ? Width::Long : Width::Short);
    if (!rng_.chance(15)) return x;
    slot.immediate = Long{long_from_double(1.25).bits >> (x.width == Width::Long ? 0 : 36)};
    return {Space::Immediate, x.width};
  }
  Arithmetic numbers(Op op) {
    Arithmetic slot;
    slot.op = op;
    slot.width = rng_.chance(50) ? Width::Long : Width::Short;
    slot.dst = place(slot.width);
    slot.a = number(slot);
    if (info(op).operands == 2)
      slot.b = slot.a.space == Space::Immediate ? place(Width::Long) : number(slot);
    return slot;
  }
  /// A mask from integers in the last registers.
  Arithmetic test() {
    Arithmetic slot;
    slot.op = Op::Isub;
    slot.width = Width::Short;
    slot.a = slot.b = {Space::Register, Width::Short, true};
    slot.a.address = static_cast<std::uint16_t>(48 + rng_.below(12));
    slot.b.address = static_cast<std::uint16_t>(48 + rng_.below(12));
    slot.mask = {rng_.chance(50) ? MaskFlag::Zero : MaskFlag::Negative,
                 static_cast<std::uint8_t>(rng_.below(3))};
    return slot;
  }
  Instruction instruction() {
    Instruction i;
    i.vlen = static_cast<std::uint8_t>(rng_.between(1, 4));
    if (rng_.chance(30))
      i.predicate = {true, rng_.chance(50), static_cast<std::uint8_t>(rng_.below(3))};
    if (rng_.chance(60)) i.mul = numbers(rng_.pick({Op::Fmul, Op::Dmul}));
    if (rng_.chance(60)) {
      i.alu = rng_.chance(20)
                  ? test()
                  : numbers(rng_.pick({Op::Fadd, Op::Fsub, Op::Fmax, Op::Fmin, Op::Fcvt}));
    }
    if (rng_.chance(30)) {
      i.move.op = Op::Bget;
      i.move.pe = place(Width::Long);
      i.move.bm = {rng_.pick({Space::Bm, Space::BmSource}), Width::Long, rng_.chance(50)};
      i.move.bm.address = static_cast<std::uint16_t>(2 * rng_.below(4));
    }
    return i;
  }

  Rng rng_;
  Geometry geometry_;
  Program program_;
};

/// The largest difference of all numbers, relative to the largest number.
double difference(const BlockState& a, const BlockState& b) {
  double most = 0, size = 1;
  const auto note = [&](Width width, std::uint16_t address, unsigned pe) {
    Flags flags = no_flags;
    const Operand x{Space::Register, width, false, address};
    const auto read = [&](const BlockState& block) {
      const u128 word = read_location(block, x, pe, 0);
      return double_from_long(
          width == Width::Long ? Long{word} : widen_float(Short{static_cast<std::uint64_t>(word)}),
          flags);
    };
    const double first = read(a), second = read(b);
    size = std::max(size, std::abs(first));
    most = std::isfinite(first) == std::isfinite(second) ? std::max(most, std::abs(first - second))
                                                         : INFINITY;
  };
  for (unsigned pe = 0; pe < a.pes; ++pe) {
    for (std::uint16_t k = 0; k < 32; k += 2) note(Width::Long, k, pe);
    for (std::uint16_t k = 32; k < 48; ++k) note(Width::Short, k, pe);
  }
  return most / size;
}

TEST_CASE("random programs of numbers are close to the exact results on the native engine") {
  const auto reference = make_engine("reference");
  const std::uint64_t first = test::first_seed();
  for (const Isa isa : host_isas()) {
    for (const std::string_view name : names) {
      const auto engine = make_engine(name, isa_name(isa));
      std::uint64_t compiled = 0;
      for (std::uint64_t seed = first; seed < first + program_count(); ++seed) {
        NumberProgram test(seed);
        const BlockState start = test.state();
        const BlockRun run = test.run();
        BlockState expected = start, got = start;
        reference->prepare(test.program(), test.geometry())->run(expected, run);
        const auto executable = engine->prepare(test.program(), test.geometry());
        executable->run(got, run);
        const SectionStats stats = executable->stats()[static_cast<unsigned>(Section::Body)];
        compiled += stats.runs;
        INFO(name << ", " << isa_name(isa) << ", seed " << seed << ", " << run.iterations
                  << " iterations\n"
                  << text_of(test.program()) << stats.reason);
        REQUIRE(difference(expected, got) < (name == "native" ? 1e-5 : 1e-4));
        REQUIRE(got.masks == expected.masks);
      }
      CHECK(compiled > program_count() / 2);
    }
  }
}

/// A hash of the states that an engine leaves of random programs of numbers.
std::uint64_t hash_of_states(const Engine& engine) {
  Hash hash;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    NumberProgram test(seed);
    BlockState state = test.state();
    const BlockRun run = test.run();
    engine.prepare(test.program(), test.geometry())->run(state, run);
    hash.add(std::string_view(selftest::hash_text(state)));
  }
  return hash.value();
}

// The hash was written by a host with AVX2.
TEST_CASE("programs of numbers without estimates have the same bits on all hosts") {
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    CHECK(hash_of_states(*make_engine("native", isa_name(isa))) == 0xa615edfce9a55faf);
  }
}

}  // namespace
