// `native` computes in doubles, whatever a kernel declares as a short.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

struct Law {
  const char* statement;
  std::function<double(double q, double x)> value;
  double bound;  ///< relative error
};

Kernel law(const std::string& statement) {
  return Kernel::compile("kernel k; precision short;\nVARI short q; VARJ short x; VARF short e;\n" +
                         statement);
}

/// e for one target q, added up over sources x, on an engine.
double sum_of(const Kernel& kernel, Device& device, double q, const std::vector<double>& x) {
  Job job = device.job(kernel);
  double e = 0;
  job.sources(x.size(), {{"x", x.data()}});
  job.targets(1, {{"q", &q}});
  job.run({{"e", &e}});
  return e;
}

double sum_of(const std::string& statement, const std::string& options, double q,
              const std::vector<double>& x) {
  Device device = Device::open("emulator:" + options);
  return sum_of(law(statement), device, q, x);
}

const std::vector<double> double_sources{0.1, 1.1, -2.7, 5.3, 1234567.89};

}  // namespace

TEST_CASE("native does not round inputs and results that a kernel declares as shorts") {
  const Law laws[] = {
      {"e += q*x;", [](double q, double x) { return q * x; }, 4e-16},
      {"e += x^2 - q^2;", [](double q, double x) { return x * x - q * q; }, 4e-16},
      {"e += 0.1*x - q;", [](double q, double x) { return 0.1 * x - q; }, 4e-16},
      {"e += x*rsqrt(x*x + q);", [](double q, double x) { return x / std::sqrt(x * x + q); },
       1e-15},
      {"e += 1/(x*x + q);", [](double q, double x) { return 1 / (x * x + q); }, 1e-15},
      {"e += sqrt(x*x + q);", [](double q, double x) { return std::sqrt(x * x + q); }, 1e-15},
      {"short d = x - q; e += d*d;", [](double q, double x) { return (x - q) * (x - q); }, 1e-15},
  };
  constexpr double q = 0.37;
  for (const Isa isa : host_isas())
    for (const Law& law : laws) {
      double expected = 0;
      for (const double x : double_sources) expected += law.value(q, x);
      const double found = sum_of(law.statement, "engine=native,isa=" + std::string(isa_name(isa)),
                                  q, double_sources);
      INFO(isa_name(isa) << ": " << law.statement << " " << found << " for " << expected);
      CHECK(std::abs(found - expected) <= law.bound * std::abs(expected));
    }
}

TEST_CASE("square roots on native are those of doubles by the instruction and by steps") {
  // The instruction is used beside twenty other operations.
  std::string others;
  for (int k = 0; k < 12; ++k) others += " t = t*t + 0.5; t = t*x; ";
  const std::string beside = " short t = 0.25;" + others + "if (t == 1e30) { e += 1; }";
  const Kernel roots = law("e += sqrt(x*x + q);" + beside),
               of_zero = law("e += sqrt((x - q)*(x - q));" + beside);
  double expected = 0;
  for (const double x : double_sources) expected += std::sqrt(x * x + 0.37);
  for (const char* chosen : {"instruction", "steps"}) {
    INFO(chosen);
    setenv("GDR_SQUARE_ROOT", chosen, 1);
    Device device = Device::open("native");
    CHECK(std::abs(sum_of(roots, device, 0.37, double_sources) - expected) <= 1e-15 * expected);
    CHECK(std::abs(sum_of(of_zero, device, 0.5, {0.5, 2.5}) - 2) <= 1e-15);
    CHECK(sum_of(roots, device, 0.37, {1e200}) == INFINITY);
  }
  unsetenv("GDR_SQUARE_ROOT");
}

TEST_CASE("reciprocal square roots with AVX2 are those of doubles by instructions and by steps") {
  if (std::ranges::count(host_isas(), Isa::Avx2) == 0) return;
  std::string others;
  for (int k = 0; k < 12; ++k) others += " t = t*t + 0.5; t = t*x; ";
  const std::string beside = " short t = 0.25;" + others + "if (t == 1e30) { e += 1; }";
  const Kernel roots = law("e += x*rsqrt(x*x + q);" + beside),
               large = law("if (x != 0) { e += rsqrt(x*q); }" + beside);
  double expected = 0;
  for (const double x : double_sources) expected += x / std::sqrt(x * x + 0.37);
  for (const char* chosen : {"instruction", "steps"}) {
    INFO(chosen);
    setenv("GDR_SQUARE_ROOT", chosen, 1);
    Device device = Device::open("native:isa=avx2");
    CHECK(std::abs(sum_of(roots, device, 0.37, double_sources) - expected) <= 1e-15 * expected);
    for (const double x : {1e-200, 1e-50, 3e-39, 1e38, 1e50, 1e200}) {
      const double right = 1 / std::sqrt(x * 0.37);
      CHECK(std::abs(sum_of(large, device, 0.37, {x, 0}) - right) <= 1e-15 * right);
    }
    CHECK(std::abs(sum_of(large, device, 1e200, {1e200, 4e-200}) - 0.5) <= 1e-15);
  }
  unsetenv("GDR_SQUARE_ROOT");
}

TEST_CASE("native does not round inputs where sources are divided over blocks") {
  for (const char* partition : {"auto", "sources", "targets"})
    for (const char* boards : {"1", "2"}) {
      INFO(partition << ", boards=" << boards);
      const std::string options =
          std::string("engine=native,partition=") + partition + ",boards=" + boards;
      const double q = 1234567.89;
      double expected = 0;
      for (const double x : double_sources) expected += q * x;
      CHECK(std::abs(sum_of("e += q*x;", options, q, double_sources) - expected) <=
            1e-15 * expected);
    }
}

TEST_CASE("minima with an index are not rounded on native") {
  const Kernel kernel = Kernel::compile(
      "VARI x; VARJ q; VARJ int id; VARF m; VARF int who; d = q - x; m min= d*d : who = id;");
  std::vector<double> q;
  std::vector<std::int64_t> id;
  for (int k = 0; k < 100000; ++k) {
    q.push_back(1234567.89 + k * 0.001234);
    id.push_back(k);
  }
  for (const std::string options : {"", ":partition=sources", ":partition=targets", ":boards=2"})
    for (const std::size_t n : {1, 40}) {
      Device device = Device::open("native" + options);
      Job job = device.job(kernel);
      std::vector<double> x, m(n);
      std::vector<std::int64_t> who(n);
      for (std::size_t i = 0; i < n; ++i) x.push_back(1234567.8913 + static_cast<double>(i) / 777);
      job.targets(n, {{"x", x.data()}});
      for (const std::size_t count : {std::size_t{1000}, q.size()}) {
        INFO(options << ", targets: " << n << ", sources: " << count);
        job.sources(count, {{"q", q.data()}, {"id", id.data()}});
        job.run({{"m", m.data()}, {"who", who.data()}});
        CHECK(device.statistics().fallback_reason.empty());
        for (std::size_t i = 0; i < n; ++i) {
          const double d = q[static_cast<std::size_t>(who[i])] - x[i];
          CHECK(m[i] == d * d);
        }
      }
    }
}

TEST_CASE("a rounding by short(x) stays on native") {
  const double x = 1 + std::ldexp(1.0, -30);
  CHECK(sum_of("e += short(x);", "engine=native", 1, {x}) == 1);
  CHECK(sum_of("e += short(x*q);", "engine=native", 1, {x}) == 1);
  CHECK(sum_of("e += x*q;", "engine=native", 1, {x}) == x);
}

TEST_CASE("a rounding of a constant by short(x) is not lost") {
  const double tenth = std::ldexp(std::nearbyint(std::ldexp(0.1, 28)), -28);
  for (const char* engine : {"engine=native", "engine=exact"}) {
    INFO(engine);
    CHECK(sum_of("e += short(0.1);", engine, 1, {1}) == tenth);
    CHECK(sum_of("long t = long(short(0.1)*4); e += t;", engine, 1, {1}) == 4 * tenth);
  }
}

TEST_CASE("a sum whose operand is subtracted again is not rounded to shorts on native") {
  const Law laws[] = {
      {"d = x - q; e += d*(d + q);", [](double q, double x) { return (x - q) * x; }, 1e-15},
      {"long d = x - q; e += d*(d - q);", [](double q, double x) { return (x - q) * (x - 2 * q); },
       1e-15},
      {"d = x - q; e += d < q ? q : d*d;",
       [](double q, double x) { return x - q < q ? q : (x - q) * (x - q); }, 1e-15},
      {"d = x + 0.1; e += d*(d - 0.1);", [](double, double x) { return (x + 0.1) * x; }, 1e-15},
      {"t = -q; d = x - t; e += d*(t + d);", [](double q, double x) { return (x + q) * x; }, 1e-15},
      {"e += atan2(-x, q);", [](double q, double x) { return std::atan2(-x, q); }, 1e-15},
      {"t = -q; e += atan2(t, -x);", [](double q, double x) { return std::atan2(-q, -x); }, 1e-15},
  };
  const std::vector<double> some{0.7, 1.9, 2.2};
  for (const Law& law : laws) {
    double expected = 0;
    for (const double x : some) expected += law.value(0.3, x);
    const double found = sum_of(law.statement, "engine=native", 0.3, some);
    INFO(law.statement << " " << found << " for " << expected);
    CHECK(std::abs(found - expected) <= law.bound * std::abs(expected));
  }
}

TEST_CASE("a sum of terms without a source is not rounded to shorts on native") {
  for (const Isa isa : host_isas())
    for (const std::size_t n : {1UL, 2UL, 3UL, 64UL, 1000UL}) {
      const std::string options = "engine=native,isa=" + std::string(isa_name(isa));
      INFO(options << ", " << n << " sources");
      const std::vector<double> x(n, 1.5);
      const double count = static_cast<double>(n), q = 0.37;
      const auto check = [&](const std::string& statement, double expected) {
        CHECK(std::abs(sum_of(statement, options, q, x) - expected) <= 1e-13 * expected);
      };
      check("e += q*q;", count * q * q);
      check("e += 7/q;", count * (7 / q));
      check("e += 0.1;", count * 0.1);
      check("e max= 1 - q;", 1 - q);
    }
}

TEST_CASE("a sum beside one of integers, or a result without terms, is not rounded to shorts") {
  const std::vector<double> x{1.1, 2.7, 0.3}, q{0.37, 4.1};
  const std::vector<std::int64_t> k{5, -7, 100}, n{3, 4};
  for (const std::string terms : {"c += k;", "c -= n;", "c += k*3 - n;", "if (k < n) { c += k; }",
                                  "", "skip if (1 > 0); m min= x;"}) {
    const Kernel kernel = Kernel::compile(
        "VARI q; VARI int n; VARJ x; VARJ int k; VARF e, m; VARF int c; e += x*q; " + terms);
    Device device = Device::open("native");
    Job job = device.job(kernel);
    std::vector<double> e(2);
    job.sources(3, {{"x", x.data()}, {"k", k.data()}});
    job.targets(2, {{"q", q.data()}, {"n", n.data()}});
    job.run({{"e", e.data()}});
    INFO(terms);
    for (std::size_t i = 0; i < 2; ++i) CHECK(std::abs(e[i] - 4.1 * q[i]) <= 1e-15 * e[i]);
  }
}

TEST_CASE("a sum beside integers that may wrap around in a block is not rounded to shorts") {
  const std::vector<double> p{0.1, 2.3, 5.7, 1e-3};
  const std::vector<std::int64_t> m{40, -9, 13, 6};
  constexpr std::int64_t large = 20'000'000'001;  // two of them exceed an integer of a PE
  for (const auto& [term, expected] :
       {std::pair("m % 7", std::int64_t{15}), std::pair("m/2", std::int64_t{25}),
        std::pair("int(1e8*p + 0.1)", std::int64_t{810100000}),
        std::pair("20000000001*(m % 2 == 0 ? 1 : 0)", 2 * large),
        std::pair("20000000001 + 0*(m % 2)", 4 * large)})
    for (const std::size_t targets : {1, 3, 5000}) {
      INFO(term << ", targets: " << targets);
      Device device = Device::open("native");
      Job job = device.job(Kernel::compile(
          "VARI x; VARJ p; VARJ int m; VARF f; VARF int c; VARF near; VARF int who; f += x*p;"
          "near min= (p - 1)*(p - 1) : who = m; c += " +
          std::string(term) + ";"));
      std::vector<double> x(targets, 1.1), f(targets), near(targets);
      std::vector<std::int64_t> c(targets), who(targets);
      job.sources(p.size(), {{"p", p.data()}, {"m", m.data()}});
      job.targets(targets, {{"x", x.data()}});
      job.run({{"f", f.data()}, {"c", c.data()}, {"near", near.data()}, {"who", who.data()}});
      for (const std::size_t i : {std::size_t{0}, targets - 1}) {
        CHECK(std::abs(f[i] - 1.1 * 8.101) < 1e-14);
        CHECK(std::abs(near[i] - 0.81) < 1e-15);
        CHECK(who[i] == 40);
        // Many targets have all sources in one PE, where sums wrap around, as on the chip.
        if (targets < 5000 || expected < large) CHECK(c[i] == expected);
      }
      CHECK(device.statistics().fallback_reason.empty());
    }
}

TEST_CASE("a kernel without variables of targets or sources is not rounded to shorts on native") {
  const auto sum = [](const std::string& text, std::size_t targets, std::size_t double_sources) {
    Device device = Device::open("native");
    Job job = device.job(Kernel::compile(text));
    const std::vector<double> x(double_sources, 0.37), q(targets, 0.37);
    std::vector<double> e(targets);
    if (text.starts_with("VARJ"))
      job.sources(double_sources, {{"x", x.data()}});
    else
      job.sources(double_sources, {});
    if (text.starts_with("VARI"))
      job.targets(targets, {{"q", q.data()}});
    else
      job.targets(targets, {});
    if (text.starts_with("CONST")) job.set("k", 0.37);
    job.run({{"e", e.data()}});
    CHECK(e.front() == e.back());
    return e.front();
  };
  for (const std::size_t targets : {1UL, 3UL, 200UL, 5000UL})
    for (const std::size_t double_sources : {1UL, 3UL, 64UL, 1000UL}) {
      const double expected = 0.37 * 0.37 * static_cast<double>(double_sources);
      for (const char* text : {"VARJ x; VARF e; e += x*x;", "VARI q; VARF e; e += q*q;",
                               "CONST k; VARF e; e += k*k;"}) {
        INFO(text << " " << targets << " targets, " << double_sources << " sources");
        CHECK(std::abs(sum(text, targets, double_sources) - expected) <= 1e-13 * expected);
      }
    }
}

TEST_CASE("a kernel that is too large for the chip in longs is not rounded to shorts on native") {
  // Shorts of 300 values of targets have room in the local memory, longs have not.
  std::string text = "VARI short q[300]; VARJ x; VARF e; t = 0;\n";
  text += "for k = 0 .. 299 { t += q[k]*(x - q[k]); }\ne += t;\n";
  const Kernel kernel = Kernel::compile(text);
  Device device = Device::open("native");
  Job job = device.job(kernel);
  std::vector<double> q(300), x{0.1, 2.3, 5.7};
  double e = 0, expected = 0;
  for (std::size_t k = 0; k < q.size(); ++k) {
    q[k] = 1 / (1.5 + static_cast<double>(k));
    for (const double x_j : x) expected += q[k] * (x_j - q[k]);
  }
  job.sources(x.size(), {{"x", x.data()}});
  job.targets(1, {{"q", q.data()}});
  job.run({{"e", &e}});
  INFO(e << " for " << expected);
  CHECK(std::abs(e - expected) <= 1e-14 * expected);
}

TEST_CASE("sums over slices of many sources are not rounded to shorts on native") {
  // Few operations for the words of a source: chips have sources of their own, joined by the host.
  std::vector<double> x(70000);
  double squares = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = 0.1 + 1e-6 * static_cast<double>(k);
    squares += x[k] * x[k];
  }
  Device device = Device::open("native");
  Job job = device.job(law("e += x*x;"));
  for (const std::size_t n : {1UL, 200UL, 9000UL}) {
    const std::vector<double> q(n);
    std::vector<double> e(n);
    job.sources(x.size(), {{"x", x.data()}});
    job.targets(n, {{"q", q.data()}});
    job.run({{"e", e.data()}});
    INFO(n << " targets: " << e[0] << " for " << squares);
    CHECK(std::abs(e[0] - squares) <= 1e-12 * squares);
    CHECK(e[n - 1] == e[0]);
  }
}

TEST_CASE("the distance to the nearest neighbour is not rounded to a short on native") {
  const Kernel nearest = Kernel::compile(
      "VARI x; VARJ y; VARJ int id; VARF m; VARF int who; d = y - x; m min= d*d : who = id;");
  for (const std::string options : {"native", "emulator:engine=native,boards=2"})
    for (const std::size_t double_sources : {10UL, 1000UL, 70000UL})
      for (const std::size_t targets : {1UL, 100UL, 1500UL}) {
        Device device = Device::open(options);
        Job job = device.job(nearest);
        std::vector<double> x(targets), y(double_sources), m(targets);
        std::vector<std::int64_t> id(double_sources), who(targets);
        for (std::size_t j = 0; j < double_sources; ++j) {
          y[j] = 0.1 + static_cast<double>(j) / 3;
          id[j] = static_cast<std::int64_t>(j) + 7;
        }
        for (std::size_t i = 0; i < targets; ++i) x[i] = 1.0 / (1.7 + static_cast<double>(i));
        job.sources(double_sources, {{"y", y.data()}, {"id", id.data()}});
        job.targets(targets, {{"x", x.data()}});
        job.run({{"m", m.data()}, {"who", who.data()}});
        INFO(options << ", " << double_sources << " sources, " << targets << " targets");
        for (const std::size_t i : {std::size_t{0}, targets / 2, targets - 1}) {
          const bool second = std::abs(y[1] - x[i]) < std::abs(y[0] - x[i]);
          const double d = y[second ? 1 : 0] - x[i];
          CHECK(who[i] == (second ? 8 : 7));
          CHECK(std::abs(m[i] - d * d) <= 1e-15 * d * d);
        }
      }
}

TEST_CASE("a kernel read from its object file is not rounded to shorts on native") {
  const Kernel kernel = law("e += x^2 - q^2;");
  const std::vector<std::uint8_t>& object = kernel.object();
  const Kernel copy = Kernel::from_object(object.data(), object.size());
  const Kernel renamed = copy.with_host_names({{"q", "charge"}});
  CHECK(copy.object() == object);
  for (const std::string engine : {"native", "native-float", "exact"}) {
    INFO(engine);
    Device device = Device::open(engine), other = Device::open(engine);
    const double expected = sum_of(kernel, device, 0.37, double_sources);
    CHECK(sum_of(copy, other, 0.37, double_sources) == expected);
    CHECK(sum_of(renamed, other, 0.37, double_sources) == expected);
    if (engine == "exact") {
      // Its boards load the program with shorts alone.
      Device third = Device::open(engine);
      sum_of(copy, third, 0.37, double_sources);
      CHECK(third.statistics().bytes_to_board == device.statistics().bytes_to_board);
    }
  }
  CHECK(Kernel(kernel.program()).object() == kernel.program_object());
}
