// The gravity kernel in fast numerics: errors, excluded pairs, limits; every instruction set.
#include <cmath>
#include <string>

#include "emulator/engine/api/engine.hpp"
#include "kernels/particles.hpp"
#include "support/catch.hpp"

using namespace kernel_test;

namespace {

const std::string small_chips = ",threads=1,chips=2,blocks=3,pes=11";

/// An engine with fast numerics and the error bound of an interaction. In doubles rounding to
/// shorts would add 6e-8, and iterations for shorts 1e-9.
struct Numerics {
  std::string engine;
  double rms, largest;
};
const Numerics numerics[] = {{"native", 1e-14, 1e-13},
                             {"native-mixed", 2e-7, 2e-6},
                             {"native-float", 2e-6, 2e-5},
                             {"native-fast", 5e-5, 5e-4}};

std::string device(const Numerics& n, gdr::Isa isa) {
  return "emulator:engine=" + n.engine + ",isa=" + std::string(gdr::isa_name(isa));
}

/// Where sources are divided over the blocks by an explicit choice, blocks compute one by one, from
/// the words in the chips, which are shorts.
Numerics numerics_with(const Numerics& n, const std::string& partition) {
  const bool in_blocks = n.engine == "native" && partition == ",partition=sources";
  return in_blocks ? Numerics{n.engine, 2e-8, 2e-7} : n;
}

template <typename Test>
void for_all(Test test) {
  for (const gdr::Isa isa : gdr::host_isas()) {
    for (const Numerics& n : numerics) {
      INFO(n.engine << ", " << gdr::isa_name(isa));
      test(device(n, isa), n);
    }
  }
}

void check_close(const Forces& got, const Forces& expected, const Numerics& n) {
  const Errors e = compare(got, expected);
  INFO("rms " << e.rms << ", largest " << e.largest << ", potential " << e.potential_rms << ", "
              << e.potential_largest);
  CHECK(e.rms <= n.rms);
  CHECK(e.largest <= n.largest);
  CHECK(e.potential_rms <= n.rms);
  CHECK(e.potential_largest <= n.largest);
}

}  // namespace

TEST_CASE("native gravity of a Plummer sphere is close to a direct sum") {
  const Particles p = plummer(1024, 1e3);
  const Forces expected = direct_sum(p, p, 1e-4);
  for_all([&](const std::string& name, const Numerics& n) {
    check_close(run_kernel(name, p, p, 1e-4), expected, n);
  });
}

TEST_CASE("native gravity is accurate for any number of sources and both partitions") {
  const Particles p = plummer(140);
  Particles targets = plummer(140, 1, 5);
  for (auto& id : targets.id) id = -1;
  for_all([&](const std::string& name, const Numerics& n) {
    for (const std::string partition : {",partition=targets", ",partition=sources"}) {
      CHECK(run_kernel(name + small_chips + partition, targets, p.first(0), 0.01) == Forces(140));
      for (const std::size_t sources : {1, 2, 3, 4, 5, 6, 7, 31, 140}) {
        INFO(partition << ", " << sources << " sources");
        const Particles some = p.first(sources);
        const Forces got = run_kernel(name + small_chips + partition, targets, some, 0.01);
        const Numerics of_pass = numerics_with(n, partition);
        check_close(got, direct_sum(targets, some, 0.01),
                    {n.engine, of_pass.rms * 10, of_pass.largest * 10});
      }
    }
  });
}

TEST_CASE("native gravity is accurate for more sources than the board's buffers hold") {
  Particles targets = plummer(20), sources = plummer(40000, 1, 2);
  for (auto& id : targets.id) id = -1;
  const Forces expected = direct_sum(targets, sources, 1e-3);
  for (const std::string partition : {",partition=targets", ",partition=sources"}) {
    const Forces got =
        run_kernel("emulator:engine=native,chips=1,blocks=2" + partition, targets, sources, 1e-3);
    check_close(got, expected, numerics_with(numerics[0], partition));
  }
}

TEST_CASE("native gravity of one pair is accurate over the range of distances") {
  for_all([&](const std::string& name, const Numerics& n) {
    const int most = n.engine == "native" ? 90 : 18;  // beyond that floats underflow
    for (int exponent = -most; exponent <= most; exponent += 3) {
      Particles p;
      p.add(0, 0, 0, 1);
      p.add(std::ldexp(1.1, exponent), std::ldexp(-0.3, exponent), std::ldexp(0.7, exponent), 3);
      INFO("distance 2^" << exponent);
      check_close(run_kernel(name + small_chips, p, p, 0), direct_sum(p, p, 0), n);
    }
  });
}

TEST_CASE("native gravity excludes the same pairs as the exact engines") {
  Particles p = plummer(24);
  for (const std::size_t twin : {3, 4, 11, 23}) {
    p.x[twin] = p.x[7];
    p.y[twin] = p.y[7];
    p.z[twin] = p.z[7];
  }
  Particles targets = plummer(13), sources = plummer(31, 10, 2);
  for (std::size_t i = 0; i < targets.size(); ++i) targets.id[i] = (1LL << 34) + 7;
  for (const std::size_t j : {0, 1, 16, 30}) sources.id[j] = (1LL << 34) + 7;
  for_all([&](const std::string& name, const Numerics& n) {
    const Numerics loose{n.engine, n.rms * 10, n.largest * 10};
    check_close(run_kernel(name + small_chips, p, p, 0), direct_sum(p, p, 0), loose);
    // Ids of more than 32 bits: the engine uses doubles instead of floats.
    check_close(run_kernel(name + small_chips, targets, sources, 0.01),
                direct_sum(targets, sources, 0.01), loose);
    const Particles self = p.first(1);
    CHECK(run_kernel(name + small_chips, self, self, 0) == Forces(1));
  });
}

TEST_CASE("native gravity overflows to infinity or NaN") {
  Particles wild;
  for (int i = 0; i < 24; ++i) wild.add(std::ldexp(i, -500), 0, 0, 1e300);
  const Particles p = plummer(31);
  for_all([&](const std::string& name, const Numerics&) {
    const Forces fresh = run_kernel(name + small_chips, p, p, 0);
    gdr::Device device = gdr::Device::open(name + small_chips);
    const Forces f = run_kernel(device, wild, wild, 0);
    if (name.find("float") == std::string::npos) {
      for (const double a : f.ax) CHECK_FALSE(std::isfinite(a));
    }
    CHECK(run_kernel(device, p, p, 0) == fresh);
  });
}

TEST_CASE("native gravity does not depend on threads") {
  const Particles p = plummer(500);
  const Forces one = run_kernel("emulator:engine=native,threads=1", p, p, 1e-3);
  CHECK(one == run_kernel("emulator:engine=native,threads=4", p, p, 1e-3));
}
