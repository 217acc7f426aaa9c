// Small kernels for the tests of the library, with reference results in double.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "gdr/gdr.hpp"

namespace library_test {

/// force_i = sum over j of k m_j (x_j - x_i); mass_i = sum over j of m_j. One source per pass.
inline constexpr const char* spring_text = R"(
.kernel spring
.flops 4
ivar  long xi f64to72
jvar  long xj mj f64to72
param long k  f64to72
fvar  long force f64to72 fadd at $lr24v
fvar  long mass  f64to72 fadd at $lr32v
.start
    upass force 0
    upass mass 0
    vlen 1
    bget $lr4 k
.body
    vlen 1
    bget $lr0 xj
    bget $lr2 mj
    vlen 4
    fsub $lr8v $lr0 xi
    dmul $lr8v $lr8v $lr2
    dmul $lr8v $lr8v $lr4
    fadd force force $lr8v
    fadd mass mass $lr2
)";

/// The same law with two sources per pass and variables of other types: float positions, integer
/// ids.
inline constexpr const char* typed_text = R"(
.kernel typed
.flops 2
.group 2
ivar  long xi f32to72
ivar  long idi i64int
jvar  long xj f32to72
jvar  long mj f64to72 pad 0
jvar  long idj i64int
fvar  long force f32to72 fadd at $lr24v
fvar  long idsum i64int iadd at $lr32v
.start
    upass force 0
    upass idsum 0
.body
.repeat J = 0, 1
    vlen 1
    bget $lr0 xj@{J}
    bget $lr2 mj@{J}
    bget $lr4 idj@{J}
    vlen 4
    fsub $lr8v $lr0 xi
    dmul $lr8v $lr8v $lr2
    fadd force force $lr8v
    iadd idsum idsum $lr4
.endrepeat
)";

inline const gdr::Kernel& spring() {
  static const gdr::Kernel kernel = gdr::Kernel::assemble(spring_text, "spring.gds");
  return kernel;
}

/// Multiples of 1/64 below 4 in magnitude: every product and sum of some thousands of them is exact
/// in a double and in a long, in any order.
inline std::vector<double> exact_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(n);
  for (double& v : values) v = static_cast<double>(static_cast<int>(random() % 512) - 256) / 64;
  return values;
}

/// Numbers whose sums are rounded.
inline std::vector<double> rough_values(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

struct SpringInput {
  std::vector<double> xi, xj, mj;
  double k = 0.5;
};

inline SpringInput exact_input(std::size_t ni, std::size_t nj) {
  return {exact_values(ni, 1), exact_values(nj, 2), exact_values(nj, 3)};
}
inline SpringInput rough_input(std::size_t ni, std::size_t nj) {
  return {rough_values(ni, 1), rough_values(nj, 2), rough_values(nj, 3), 0.7};
}

struct SpringResult {
  std::vector<double> force, mass;
  friend bool operator==(const SpringResult&, const SpringResult&) = default;
};

inline SpringResult spring_reference(const SpringInput& in) {
  SpringResult out;
  for (double x : in.xi) {
    double force = 0, mass = 0;
    for (std::size_t j = 0; j < in.xj.size(); ++j) {
      force += in.k * in.mj[j] * (in.xj[j] - x);
      mass += in.mj[j];
    }
    out.force.push_back(force);
    out.mass.push_back(mass);
  }
  return out;
}

inline void give(gdr::Job& job, const SpringInput& in) {
  job.set("k", in.k);
  job.sources(in.xj.size(), {{"xj", in.xj}, {"mj", in.mj}});
  job.targets(in.xi.size(), {{"xi", in.xi}});
}

inline SpringResult run(gdr::Job& job) {
  SpringResult out;
  out.force.assign(job.target_count(), -77);
  out.mass.assign(job.target_count(), -77);
  job.run({{"force", out.force}, {"mass", out.mass}});
  return out;
}

inline SpringResult run_on(const std::string& device_name, const SpringInput& in) {
  gdr::Device device = gdr::Device::open(device_name);
  gdr::Job job = device.job(spring());
  give(job, in);
  return run(job);
}

/// A small machine, so that small jobs exceed its capacities: 2 chips of 2 blocks of 3 PEs.
inline const std::string tiny = "exact:threads=1,chips=2,blocks=2,pes=3";

}  // namespace library_test
