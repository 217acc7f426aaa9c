// Every engine and instruction set of this host leaves the state of the reference. The long run is
// `gdr selftest --minutes M`.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/vector/vector.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/host/hash.hpp"
#include "emulator/selftest/case.hpp"
#include "emulator/selftest/selftest.hpp"
#include "gdr/error.hpp"
#include "selftest/kernels.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

std::vector<std::unique_ptr<Engine>> vector_engines() {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Isa isa : host_isas()) {
    engines.push_back(make_engine("vector", isa_name(isa)));
    // Without generated machine code, so that the precompiled kernels are executed.
    if (isa == Isa::Avx512 || isa == Isa::Neon)
      engines.push_back(std::make_unique<VectorEngine>(isa, false));
  }
  return engines;
}

}  // namespace

TEST_CASE("every engine leaves the state of the reference") {
  const auto engines = vector_engines();
  const std::vector<Program> library = library_kernels();
  selftest::Options options;
  options.kernels = library;
  options.seed = first_seed();
  options.cases = test_iterations(30);
  const selftest::Outcome outcome = selftest::run(engines, options);
  if (outcome.failure) FAIL(selftest::failure_text(*outcome.failure));
  REQUIRE(outcome.counts.size() == 4);
  for (const selftest::Count& count : outcome.counts) {
    INFO(count.category);
    CHECK(count.cases == options.cases);
    CHECK(count.operations > count.cases);
  }
}

// The hash was written by a host with AVX-512.
TEST_CASE("the states of random programs are the same on all hosts") {
  for (const auto& engine : vector_engines()) {
    Hash hash;
    for (const char* const category : {"operations", "programs", "loops"})
      for (std::uint64_t seed = 1; seed <= 40; ++seed)
        hash.add(std::string_view(selftest::hash_text(
            selftest::run_case(*engine, selftest::random_case(category, seed)))));
    INFO(isa_name(engine->isa()));
    CHECK(hash.value() == 0x60abb3460f3d3353);
  }
}

TEST_CASE("random loops on a GPU leave the state of the reference") {
  if (gpu::devices().empty()) {
    WARN("no OpenCL device: " << gpu::why_no_device());
    return;
  }
  setenv("GDR_GPU_PAIRS", "0", 1);
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_engine("gpu-exact"));
  selftest::Options options;
  options.category = "loops";
  options.seed = first_seed();
  options.cases = test_iterations(25);
  const selftest::Outcome outcome = selftest::run(engines, options);
  if (outcome.failure) FAIL(selftest::failure_text(*outcome.failure));
  CHECK(outcome.counts.front().cases == options.cases);
}

TEST_CASE("the requested number of cases runs, with any number of threads") {
  const auto engines = vector_engines();
  const std::vector<Program> library = library_kernels();
  std::uint64_t operations = 0;
  for (const unsigned threads : {1U, 3U}) {
    selftest::Options options;
    options.kernels = library;
    options.cases = 7;
    options.threads = threads;
    double last = 0;
    options.progress = [&last](double done) { last = std::max(last, done); };
    const selftest::Outcome outcome = selftest::run(engines, options);
    REQUIRE_FALSE(outcome.failure.has_value());
    std::uint64_t sum = 0;
    for (const selftest::Count& count : outcome.counts) {
      CHECK(count.cases == 7);
      sum += count.operations;
    }
    CHECK((operations == 0 || operations == sum));
    operations = sum;
    CHECK(last == 28);
  }
}

TEST_CASE("a single category runs alone, and an unknown one is refused") {
  const auto engines = vector_engines();
  selftest::Options options;
  options.cases = 2;
  options.category = "loops";
  const selftest::Outcome outcome = selftest::run(engines, options);
  REQUIRE(outcome.counts.size() == 1);
  CHECK(outcome.counts[0].category == "loops");
  options.category = "loop";
  CHECK_THROWS_AS(selftest::run(engines, options), Error);
}

}  // namespace gdr::test
