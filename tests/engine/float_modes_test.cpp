// The engines among floats beside native-float: distances of close particles in native-mixed, and
// estimates without refinement in native-fast.
#include <cmath>
#include <string>
#include <vector>

#include "emulator/host/isa.hpp"
#include "gdr/device.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

const std::string law = "VARI x; VARJ q, m; VARF f; d = q - x; f += m*(d*d);";

struct ModeOutcome {
  std::vector<double> f;
  std::string reason;
};

ModeOutcome run_in_mode(const std::string& engine, Isa isa, const std::string& text,
                        const std::vector<double>& x, const std::vector<double>& q,
                        const std::vector<double>& m) {
  Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine +
                               ",isa=" + std::string(isa_name(isa)));
  Job job = device.job(Kernel::compile(text));
  ModeOutcome made{std::vector<double>(x.size()), {}};
  job.targets(x.size(), {{"x", x.data()}});
  job.sources(q.size(), {{"q", q.data()}, {"m", m.data()}});
  job.run({{"f", made.f.data()}});
  made.reason = device.statistics().fallback_reason;
  return made;
}

/// The largest error relative to the value.
double error(const std::vector<double>& got, const std::vector<double>& right) {
  double most = 0;
  for (std::size_t k = 0; k < got.size(); ++k)
    most = std::max(most, std::abs(got[k] / right[k] - 1));
  return most;
}

/// Close pairs, 1e-5 apart, at positions near one.
struct Pairs {
  std::vector<double> x, q, m, right;
  Pairs() {
    for (int i = 0; i < 70; ++i) x.push_back(1 + 1e-7 * i);
    for (int j = 0; j < 90; ++j) {
      q.push_back(1.00001 + 1.23e-7 * j);
      m.push_back(j % 5);
    }
    for (const double at : x) {
      double sum = 0;
      for (std::size_t j = 0; j < q.size(); ++j) sum += m[j] * (q[j] - at) * (q[j] - at);
      right.push_back(sum);
    }
  }
};

}  // namespace

TEST_CASE("native-mixed is accurate for distances that are small beside the positions") {
  const Pairs p;
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    const ModeOutcome mixed = run_in_mode("native-mixed", isa, law, p.x, p.q, p.m);
    CHECK(mixed.reason.empty());
    CHECK(error(mixed.f, p.right) < 1e-6);
    CHECK(error(mixed.f, p.right) > 1e-9);
    CHECK(error(run_in_mode("native-float", isa, law, p.x, p.q, p.m).f, p.right) > 1e-4);
    // Also with a long operation.
    const std::string in_longs = "precision long; " + law;
    CHECK(error(run_in_mode("native-mixed", isa, in_longs, p.x, p.q, p.m).f, p.right) < 1e-6);
  }
}

TEST_CASE("native-mixed is accurate where a run is repeated in doubles") {
  Pairs p;
  for (std::size_t j = 0; j < p.m.size(); ++j) p.m[j] = std::sqrt(p.m[j]);
  // The square of this mass is below the range of floats.
  p.q.push_back(p.q[7]);
  p.m.push_back(1e-21);
  const std::string text = "VARI x; VARJ q, m; VARF f; d = q - x; f += (m*m)*(d*d);";
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    const ModeOutcome mixed = run_in_mode("native-mixed", isa, text, p.x, p.q, p.m);
    CHECK(mixed.reason.find("beyond the range of floats") != std::string::npos);
    CHECK(error(mixed.f, p.right) < 1e-6);
  }
}

TEST_CASE("particles at the same place have no distance in native-mixed") {
  const std::vector<double> at{0.1, 1.0 / 3, -1e7 / 3, 0};
  const std::string text = "VARI x; VARJ q, m; VARF f; d = q - x; f += d*d == 0 ? m : 0;";
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    CHECK(run_in_mode("native-mixed", isa, text, at, at, {1, 2, 4, 8}).f ==
          std::vector<double>{1, 2, 4, 8});
  }
}

TEST_CASE("native-fast computes roots and reciprocals to a part in 10^4") {
  std::vector<double> x, right, right_root;
  for (int i = 0; i < 64; ++i) {
    x.push_back(std::ldexp(1 + i / 64.0, i - 32));
    right.push_back(1 / x.back());
    right_root.push_back(1 / std::sqrt(x.back()));
  }
  const std::string head = "VARI x; VARJ q, m; VARF f; ";
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    const ModeOutcome roots =
        run_in_mode("native-fast", isa, head + "f += m*rsqrt(q*x);", x, {1}, {1});
    CHECK(roots.reason.empty());
    CHECK(error(roots.f, right_root) < 7e-5);
    CHECK(error(run_in_mode("native-fast", isa, head + "f += m*recip(q*x);", x, {1}, {1}).f,
                right) < 7e-5);
    if (isa != Isa::Avx512) continue;
    CHECK(error(roots.f, right_root) > 1e-6);
    CHECK(error(run_in_mode("native-float", isa, head + "f += m*rsqrt(q*x);", x, {1}, {1}).f,
                right_root) < 1e-6);
  }
}

TEST_CASE("native-fast notices an operand beyond the range of floats") {
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    const ModeOutcome got =
        run_in_mode("native-fast", isa, "VARI x; VARJ q, m; VARF f; f += m*rsqrt(q*x);", {1e30, 4},
                    {1e20, 1e10}, {1e20, 1e20});
    CHECK(got.reason.find("beyond the range of floats") != std::string::npos);
    CHECK(error(got.f, {1e-5 + 1, 0.5e10 + 0.5e15}) < 1e-5);
  }
}

}  // namespace gdr::test
