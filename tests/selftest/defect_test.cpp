// Injected defects are detected, reported and minimised.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/selftest/selftest.hpp"
#include "selftest/defects.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

using selftest::Divergence;
using selftest::Failure;

/// The failure that a self-test of a defective engine must report.
Failure failure_of(const Defect& defect, std::string_view category, std::uint64_t cases = 3000) {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(std::make_unique<DefectiveEngine>(defect));
  selftest::Options options;
  options.category = category;
  options.cases = cases;
  options.threads = 1;
  selftest::Outcome outcome = selftest::run(engines, options);
  REQUIRE(outcome.failure.has_value());
  return *std::move(outcome.failure);
}

std::size_t length_of(const Program& program) {
  std::size_t sum = 0;
  for (const auto& section : program.sections) sum += section.size();
  return sum;
}

/// The last bit of a product of two shorts in a vector of registers is wrong if ten of its bits are
/// all ones.
void rare_product(const Instruction& i, BlockState& state) {
  const auto written = [&](unsigned pe, unsigned k) {
    if (!i.predicate.used) return true;
    const std::size_t row = std::size_t{i.predicate.mask} * max_elements + k;
    return (state.masks[row * state.pes + pe] != 0) == i.predicate.value;
  };
  if (i.mul.op != Op::Fmul || i.mul.width != Width::Short) return;
  if (i.mul.dst.space != Space::Register || !i.mul.dst.vector) return;
  for (unsigned k = 0; k < i.vlen; ++k) {
    for (unsigned pe = 0; pe < state.pes; ++pe) {
      const u128 word = read_location(state, i.mul.dst, pe, k);
      if (!written(pe, k)) continue;
      if ((word >> 4 & 1023) == 1023) write_location(state, i.mul.dst, pe, k, word ^ 1);
    }
  }
}

/// A predicated sum that is the largest finite long is wrong.
void predicated_sum(const Instruction& i, BlockState& state) {
  if (i.alu.op != Op::Fsub || !i.predicate.used || i.alu.dst.space != Space::Register) return;
  const Operand& x = i.alu.dst;
  const u128 word = read_location(state, x, state.pes - 1, 0);
  const Long wide =
      x.width == Width::Long ? Long{word} : widen_float(Short{static_cast<std::uint64_t>(word)});
  if ((static_cast<unsigned>(wide.bits >> 60) & 2047) > 1000) {
    write_location(state, x, state.pes - 1, 0, word ^ 2);
  }
}

void wrong_mask(const Instruction& i, BlockState& state) {
  if (i.alu.op != Op::Fmax || i.alu.mask.flag != MaskFlag::Zero) return;
  state.masks[std::size_t{i.alu.mask.mask} * max_elements * state.pes] ^= ~std::uint64_t{0};
}

void check_names(const Divergence& d, const std::string& mnemonic) {
  INFO(d.text);
  CHECK(d.alone);
  CHECK(d.text.find(mnemonic) != std::string::npos);
  CHECK(d.expected.bits != d.got.bits);
}

}  // namespace

TEST_CASE("a rarely wrong product is detected by every kind of case, and reported") {
  for (const std::string_view category : {"operations", "programs", "loops"}) {
    const Failure f = failure_of(rare_product, category);
    INFO(category << ", " << selftest::failure_text(f));
    for (const Divergence* d : {&f.first, &f.in_shrunk}) {
      check_names(*d, "fmul");
      CHECK(d->memory == "register");
      CHECK((d->expected.bits ^ d->got.bits) == 1);
      CHECK((d->expected.bits >> 4 & 1023) == 1023);
      CHECK(d->element >= 0);
      CHECK(d->pe < 4096);
    }
    CHECK(length_of(f.shrunk.program) == 1);
    CHECK(f.shrunk.run.iterations == 1);
    CHECK(f.shrunk.state.pes == 1);
    const Instruction& left = f.shrunk.program.section(f.in_shrunk.section).front();
    CHECK(left.mul.op == Op::Fmul);
    CHECK_FALSE(left.alu.used());
    CHECK_FALSE(left.move.used());
    CHECK_FALSE(left.predicate.used);
  }
}

TEST_CASE("the report of a defect under a predicate names predicate, PE and element") {
  const Failure f = failure_of(predicated_sum, "programs");
  INFO(selftest::failure_text(f));
  check_names(f.first, "fsub");
  CHECK(f.first.element == 0);
  REQUIRE(length_of(f.shrunk.program) == 1);
  CHECK(f.shrunk.program.section(f.in_shrunk.section)[0].predicate.used);
}

TEST_CASE("a wrong mask is detected and reported") {
  const Failure f = failure_of(wrong_mask, "operations");
  INFO(selftest::failure_text(f));
  check_names(f.first, "fmax");
  CHECK(f.first.memory == "mask");
  CHECK(f.first.element == 0);
  CHECK(f.first.pe == 0);
  CHECK(f.first.place.starts_with("m"));
}

TEST_CASE("missing sticky flags are detected") {
  const Failure f =
      failure_of([](const Instruction&, BlockState& state) { state.flags = no_flags; }, "programs");
  CHECK(f.first.memory == "flags");
  CHECK(f.in_shrunk.memory == "flags");
}

TEST_CASE("a difference after many iterations is reported with its iteration") {
  // Wrong from the third execution of an instruction on, which a single execution cannot show.
  class Late final : public Engine {
   public:
    std::string_view name() const noexcept override { return "late"; }
    Isa isa() const noexcept override { return Isa::Portable; }
    std::shared_ptr<const Executable> prepare(const Program& p, const Geometry& g) const override {
      class Run final : public BlockwiseExecutable {
       public:
        explicit Run(std::shared_ptr<const Executable> good) : good_(std::move(good)) {}
        void run(BlockState& block, const BlockRun& run) const override {
          good_->run(block, run);
          if (run.section == Section::Body && run.iterations >= 3) block.registers[0] ^= 1;
        }

       private:
        std::shared_ptr<const Executable> good_;
      };
      return std::make_shared<Run>(make_engine("vector", "portable")->prepare(p, g));
    }
  };
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(std::make_unique<Late>());
  selftest::Options options;
  options.category = "loops";
  options.cases = 100;
  options.threads = 1;
  const selftest::Outcome outcome = selftest::run(engines, options);
  REQUIRE(outcome.failure.has_value());
  INFO(selftest::failure_text(*outcome.failure));
  CHECK_FALSE(outcome.failure->first.alone);
  CHECK(outcome.failure->first.section == Section::Body);
  CHECK(outcome.failure->first.iteration == 2);
  CHECK(outcome.failure->shrunk.run.iterations == 3);
  CHECK(length_of(outcome.failure->shrunk.program) <= 1);
}

TEST_CASE("the report has the seed, both words, the operands and a program that assembles") {
  const Failure f = failure_of(rare_product, "operations");
  const std::string text = selftest::failure_text(f);
  INFO(text);
  CHECK(text.find(fmt::format("operations seed {}", f.seed)) != std::string::npos);
  CHECK(text.find(selftest::word_text(f.first.expected, f.first.width)) != std::string::npos);
  CHECK(text.find(selftest::word_text(f.first.got, f.first.width)) != std::string::npos);
  CHECK(f.first.operands.size() == 2);
  const std::size_t program = text.find("# Disassembled");
  REQUIRE(program != std::string::npos);
  AssembleOptions options;
  options.geometry = f.shrunk.geometry;
  const AssembleResult again = assemble(text.substr(program), "shrunk.gds", options);
  INFO(again.diagnostics.render());
  REQUIRE(again.ok());
  CHECK(again.program->sections == f.shrunk.program.sections);
}

TEST_CASE("the same seed reproduces the same defect") {
  const Failure first = failure_of(rare_product, "loops");
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(std::make_unique<DefectiveEngine>(Defect(rare_product)));
  selftest::Options options;
  options.category = "loops";
  options.seed = first.seed;
  options.cases = 1;
  const selftest::Outcome outcome = selftest::run(engines, options);
  REQUIRE(outcome.failure.has_value());
  CHECK(selftest::failure_text(*outcome.failure) == selftest::failure_text(first));
}

}  // namespace gdr::test
