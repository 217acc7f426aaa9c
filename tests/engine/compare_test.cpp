// The comparison of engines itself: a defect that is put in is found, shrunk and named.
#include "engine/compare.hpp"

#include <memory>
#include <string>

#include "support/catch.hpp"

namespace {

using namespace gdr;
using namespace gdr::test;

/// What a faulty engine does after a section: given the program and a block's state.
using Fault = void (*)(const Program& program, BlockState& block);

class FaultyExecutable final : public Executable {
 public:
  FaultyExecutable(std::shared_ptr<const Executable> good, const Program& program, Fault fault)
      : good_(std::move(good)), program_(program), fault_(fault) {}
  void run(BlockState& block, const BlockRun& run) const override {
    good_->run(block, run);
    fault_(program_, block);
  }

 private:
  std::shared_ptr<const Executable> good_;
  Program program_;
  Fault fault_;
};

/// The reference engine with a defect.
class FaultyEngine final : public Engine {
 public:
  explicit FaultyEngine(Fault fault) : fault_(fault) {}
  std::string_view name() const noexcept override { return "faulty"; }
  Isa isa() const noexcept override { return Isa::Portable; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override {
    return std::make_shared<FaultyExecutable>(make_engine("reference")->prepare(program, geometry),
                                              program, fault_);
  }

 private:
  Fault fault_;
};

/// One wrong bit in T of the last PE as soon as there is a `dmul`.
void wrong_after_dmul(const Program& program, BlockState& block) {
  for (const Instruction& i : program.section(Section::Body)) {
    if (i.mul.op == Op::Dmul) {
      block.t[3U * block.pes + block.pes - 1] ^= 16;
      return;
    }
  }
}

void flags_forgotten(const Program&, BlockState& block) { block.flags = no_flags; }

RandomCase case_with(Op op) {
  for (std::uint64_t seed = 0;; ++seed) {
    RandomCase test = random_case(seed);
    for (const Instruction& i : test.program.section(Section::Body)) {
      if (i.mul.op == op && test.program.section(Section::Body).size() > 5) return test;
    }
  }
}

TEST_CASE("a defect of an engine is found, shrunk to one instruction and named") {
  const auto reference = make_engine("reference");
  const FaultyEngine faulty(wrong_after_dmul);
  const RandomCase test = case_with(Op::Dmul);
  REQUIRE_FALSE(agree(*reference, faulty, test));
  const RandomCase small = shrink(*reference, faulty, test);
  CHECK(small.run.iterations == 1);
  REQUIRE(small.program.section(Section::Body).size() == 1);
  const Instruction& left = small.program.section(Section::Body)[0];
  CHECK(left.mul.op == Op::Dmul);
  CHECK_FALSE(left.alu.used());
  CHECK_FALSE(left.move.used());
  CHECK(left.vlen == 1);
  const std::string text = explain(*reference, faulty, test);
  INFO(text);
  CHECK(text.find("dmul") != std::string::npos);
  CHECK(text.find("t address 3, PE " + std::to_string(test.state.pes - 1) + ", element 1") !=
        std::string::npos);
}

TEST_CASE("an engine that forgets flags is found") {
  const auto reference = make_engine("reference");
  const FaultyEngine faulty(flags_forgotten);
  bool found = false;
  for (std::uint64_t seed = 0; seed < 100 && !found; ++seed) {
    found = !agree(*reference, faulty, random_case(seed));
  }
  CHECK(found);
}

TEST_CASE("a random case is the same for the same seed") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomCase a = random_case(seed);
    const RandomCase b = random_case(seed);
    CHECK(a.program == b.program);
    CHECK(a.state == b.state);
    CHECK(a.geometry == b.geometry);
  }
}

}  // namespace
