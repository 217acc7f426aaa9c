// Random programs leave the same state on every engine and instruction set, bit for bit.
//
// GDR_TEST_PROGRAMS sets how many programs are drawn (0: as many as fit into some seconds) and
// GDR_TEST_SEED the first of their seeds.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engine/compare.hpp"
#include "support/catch.hpp"

namespace {

using namespace gdr;
using namespace gdr::test;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// The vector engine with each instruction set of this host.
std::vector<std::unique_ptr<Engine>> vector_engines() {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Isa isa : host_isas()) engines.push_back(make_engine("vector", isa_name(isa)));
  return engines;
}

/// Runs the case of a seed on all engines; what is different is shrunk and explained.
void check_case(std::uint64_t seed, bool keep_ports, const Engine& reference,
                const std::vector<std::unique_ptr<Engine>>& engines) {
  const RandomCase test = random_case(seed, keep_ports);
  const BlockState expected = run_case(reference, test);
  for (const auto& engine : engines) {
    if (run_case(*engine, test) == expected) continue;
    FAIL("seed " << seed << (keep_ports ? "" : " without port limits") << ", "
                 << explain(reference, *engine, shrink(reference, *engine, test)));
  }
}

TEST_CASE("random programs leave the same state on every engine") {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t programs = from_environment("GDR_TEST_PROGRAMS", 0);
  const std::uint64_t first = from_environment("GDR_TEST_SEED", 1);
  const auto reference = make_engine("reference");
  const auto engines = vector_engines();
  const auto end = Clock::now() + std::chrono::seconds(8);
  std::uint64_t done = 0;
  // A slow host still checks this many.
  constexpr std::uint64_t least = 200;
  while (programs != 0 ? done < programs : done < least || Clock::now() < end) {
    // The assembler refuses programs that break port limits, the engines need not.
    check_case(first + done, done % 4 != 3, *reference, engines);
    ++done;
  }
  CHECK(done >= (programs != 0 ? programs : least));
}

TEST_CASE("random programs use every operation, space and destination") {
  std::vector<unsigned> spaces(11), ops(static_cast<std::size_t>(Op::Bput) + 1), flags(4), t(4);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomCase test = random_case(seed);
    for (const Instruction& i : test.program.section(Section::Body)) {
      for (const Arithmetic* slot : {&i.mul, &i.alu}) {
        ++ops[static_cast<std::size_t>(slot->op)];
        ++flags[static_cast<std::size_t>(slot->mask.flag)];
        ++t[static_cast<std::size_t>(slot->t)];
        for (const Operand* x : {&slot->dst, &slot->a, &slot->b}) {
          ++spaces[static_cast<std::size_t>(x->space)];
        }
      }
      ++ops[static_cast<std::size_t>(i.move.op)];
      ++spaces[static_cast<std::size_t>(i.move.bm.space)];
    }
  }
  for (const auto* counts : {&spaces, &ops, &flags, &t}) {
    for (const unsigned count : *counts) CHECK(count > 10);
  }
}

}  // namespace
