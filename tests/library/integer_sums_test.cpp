// Sums of integers over sources, for few targets: on the native engines they are as fast as other
// sums, unless their terms may be so large that it matters which PE adds them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/kernel.hpp"
#include "support/catch.hpp"

namespace gdr {
namespace {

constexpr std::size_t targets = 48, sources = 3000;

struct Outcome {
  std::vector<std::int64_t> sums;
  std::uint64_t runs = 0;  ///< of block sections
};

/// The sums `n` of a kernel with targets xi and sources xj and kj, integers up to 6 `scale`.
Outcome outcome(const char* engine, const Kernel& kernel, std::int64_t scale = 1) {
  DeviceOptions options;
  options.engine = engine;
  options.threads = 1;  // runs would depend on how many threads pay
  Device device = Device::open("emulator", options);
  Job job = device.job(kernel);
  std::vector<double> xi(targets), xj(sources), s(targets);
  std::vector<std::int64_t> kj(sources);
  for (std::size_t i = 0; i < targets; ++i) xi[i] = 0.25 * static_cast<double>(i);
  for (std::size_t j = 0; j < sources; ++j) {
    xj[j] = static_cast<double>(j % 97) - 40;
    kj[j] = scale * static_cast<std::int64_t>(j % 7);
  }
  const NamedInput of_targets[] = {{"xi", ConstArray(xi)}},
                   of_sources[] = {{"xj", ConstArray(xj)}, {"kj", ConstArray(kj.data())}};
  Outcome made;
  made.sums.resize(targets);
  const NamedResult results[] = {{"n", made.sums.data()}, {"s", MutableArray(s)}};
  job.sources(sources, of_sources);
  job.targets(targets, of_targets);
  job.run(results);
  const Statistics statistics = device.statistics();
  CHECK(statistics.fallback_runs == 0);
  made.runs = statistics.fast_runs;
  return made;
}

Outcome outcome(const char* engine, const std::string& body, bool scheduled,
                std::int64_t scale = 1) {
  const Kernel kernel = Kernel::compile(
      "VARI xi; VARJ xj; VARJ int kj; VARF int n; VARF s;\nd = xj - xi; s += d;\n" + body);
  return outcome(engine, scheduled ? kernel.scheduled() : kernel, scale);
}

/// Counts all sources, from a value of section Start on; section End adds its instructions.
Kernel counting_from(const std::string& start, const std::string& end) {
  return Kernel::assemble(R"(
ivar long xi f64to72 at $lm0v
jvar long xj f64to72 at $ls0
jvar short kj i64int at $s2
fvar short n i64int iadd at $r8v
fvar long s f64to72 fadd at $lr0v
.start
    ipass $r8v )" + start +
                          R"(
    ipass $lr0v 0x000000000000000000
.body
    bget $lr12 xj
    fsub $t $lr12 $lm0v
    fadd $lr0v $lr0v $t
    iadd $r8v $r8v 0x000000001
.end
)" + end);
}

}  // namespace

TEST_CASE("few targets of kernels that count sources are packed into vectors") {
  const std::string bodies[] = {"n += d < 3 ? 1 : 0;", "if (d < 3) { n += 1; }",
                                "if (d < 0) { n += 2; } else { n -= 5; }",
                                "skip if (d > 20); n += d < 3 ? 1 : -1;"};
  for (const std::string& body : bodies) {
    const Outcome exact = outcome("vector", body, true);
    for (const char* engine : {"native", "native-float"}) {
      const std::uint64_t packed = outcome(engine, "n += 1;", false).runs;
      CHECK(exact.runs > 4 * packed);
      for (const bool scheduled : {false, true}) {
        CAPTURE(body, engine, scheduled);
        const Outcome got = outcome(engine, body, scheduled);
        CHECK(got.sums == exact.sums);
        CHECK(got.runs == packed);
      }
    }
  }
}

TEST_CASE("few targets of kernels that add up small integers are packed into vectors") {
  for (const char* body : {"n += kj;", "n -= d < 3 ? kj : 2;", "n += max(3*kj - 5, -kj);",
                           "skip if (d > 20); n += abs(kj - 4);", "n += 0;"}) {
    const Outcome exact = outcome("vector", body, true);
    for (const char* engine : {"native", "native-float"}) {
      CAPTURE(body, engine);
      const Outcome got = outcome(engine, body, false);
      CHECK(got.sums == exact.sums);
      CHECK(got.runs == outcome(engine, "n += 1;", false).runs);
    }
  }
}

TEST_CASE("sums of integers that may wrap around in the PEs have the values of the chip") {
  constexpr std::int64_t large = std::int64_t{1} << 29;
  for (const char* body : {"n += kj;", "n += d < 3 ? kj : 1;"}) {
    CAPTURE(body);
    // 3000 terms of up to 2^32 exceed the 36 bits of a PE, but not all those of the blocks.
    const Outcome exact = outcome("vector", body, true, large);
    CHECK(outcome("native", body, false, large).sums == exact.sums);
    CHECK(outcome("native", body, true, large).sums == exact.sums);
  }
  constexpr const char* of_constants = "n += d < 3 ? 2000000000 : 1000000000;";
  CHECK(outcome("native", of_constants, false).sums == outcome("vector", of_constants, true).sums);
}

TEST_CASE("integers with which blocks begin or end count once for each block of the chip") {
  const Kernel from_zero = counting_from("0x000000000", "");
  const std::uint64_t packed = outcome("native", from_zero).runs;
  CHECK(outcome("native", from_zero).sums == std::vector<std::int64_t>(targets, sources));
  const std::pair<std::string, std::string> programs[] = {
      {"0x000000005", ""},                                   // Start counts, too
      {"0x000000000", "    ipass $r8v 0x000000007\n"},       // End sets it
      {"0x000000000", "    iadd $r8v $r8v $r8v\n"},          // End doubles it
      {"0x000000000", "    iadd $r8v $r8v 0x07fffffff\n"}};  // End adds much
  for (const auto& [start, end] : programs) {
    CAPTURE(start, end);
    const Kernel kernel = counting_from(start, end);
    const Outcome exact = outcome("vector", kernel), got = outcome("native", kernel);
    CHECK(got.sums == exact.sums);
    CHECK(got.runs > packed);
  }
}

}  // namespace gdr
