// Fewer targets than a vector has lanes, with so many sources that the lanes divide them: every
// reduction beside loops in C++, on every native engine and instruction set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/codegen_support.hpp"
#include "emulator/host/isa.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

std::vector<std::string> engines() {
  std::vector<std::string> all;
  for (const Isa isa : host_isas())
    for (const std::string engine : {"native", "native-mixed", "native-float", "native-fast"})
      all.push_back(engine + ",isa=" + std::string(isa_name(isa)));
  return all;
}

/// Quarters and small integers, of which sums are exact in floats, too.
Data quarters(std::size_t targets, std::size_t sources, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<double>(random() % n); };
  Data data;
  for (std::size_t t = 0; t < targets; ++t) {
    data["x"].push_back(below(64) / 4 - 8);
    data["n"].push_back(below(sources));
  }
  for (std::size_t s = 0; s < sources; ++s) {
    data["e"].push_back(below(64) / 4 - 8);
    data["w"].push_back(below(8) / 2);
    data["i"].push_back(below(2000) - 1000);
    data["id"].push_back(static_cast<double>(s));
  }
  // Several sources have the least and the largest key; that with the least id is not the first.
  std::shuffle(data["id"].begin(), data["id"].end(), random);
  return data;
}

constexpr const char* all_reductions =
    "VARI x; VARI int n; VARJ e, w; VARJ int i, id;\n"
    "VARF sum, product, low, high, nearest, farthest;\n"
    "VARF int count, who, last, least, most;\n"
    "skip if (id == n);\n"
    "d = e - x;\n"
    "sum += d; product += w*d; low min= d; high max= w - d;\n"
    "nearest min= d : who = id; farthest max= w + e : last = id;\n"
    "count += d < 0.5 ? 1 : 0; least min= i; most max= i;\n"
    "if (w > 2) { product += 0.25; count += 2; }\n";

/// What the kernel above computes for a target.
Data loop_over(const Data& data, std::size_t t) {
  const double infinity = std::numeric_limits<double>::infinity();
  double sum = 0, product = 0, low = infinity, high = -infinity, nearest = infinity,
         farthest = -infinity, count = 0, who = -1, last = -1, least = infinity, most = -infinity;
  for (std::size_t s = 0; s < data.at("e").size(); ++s) {
    const double e = data.at("e")[s], w = data.at("w")[s], i = data.at("i")[s],
                 id = data.at("id")[s], d = e - data.at("x")[t];
    if (id == data.at("n")[t]) continue;
    sum += d;
    product += w * d + (w > 2 ? 0.25 : 0);
    low = std::min(low, d);
    high = std::max(high, w - d);
    if (d < nearest || (d == nearest && id < who)) who = id;
    nearest = std::min(nearest, d);
    if (w + e > farthest || (w + e == farthest && id < last)) last = id;
    farthest = std::max(farthest, w + e);
    count += (d < 0.5 ? 1 : 0) + (w > 2 ? 2 : 0);
    least = std::min(least, i);
    most = std::max(most, i);
  }
  return {{"sum", {sum}},         {"product", {product}},   {"low", {low}},  {"high", {high}},
          {"nearest", {nearest}}, {"farthest", {farthest}}, {"who", {who}},  {"last", {last}},
          {"count", {count}},     {"least", {least}},       {"most", {most}}};
}

/// A job of sums of numbers whose rounding shows in which order they were added.
std::vector<double> sums(const std::string& device, const std::vector<double>& x,
                         const std::vector<double>& m, unsigned runs = 1) {
  Device opened = Device::open("emulator:chips=1," + device);
  Job job = opened.job(Kernel::compile("VARI x; VARJ m; VARF f; f += m*x;"));
  std::vector<double> f(x.size());
  job.sources(m.size(), {{"m", m.data()}});
  for (unsigned k = 0; k < runs; ++k) {
    job.targets(x.size(), {{"x", x.data()}});
    job.run({{"f", f.data()}});
  }
  return f;
}

std::vector<double> random_numbers(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.5, 1);
  std::vector<double> made(n);
  for (double& x : made) x = uniform(random);
  return made;
}

}  // namespace

TEST_CASE("every reduction over many sources has the values of a loop for few targets") {
  const Kernel text = Kernel::compile(all_reductions);
  for (const bool scheduled : {false, true}) {
    const Kernel kernel = scheduled ? text.scheduled() : text;
    for (const std::string& engine : engines())
      for (const auto& [targets, sources] : {std::pair<std::size_t, std::size_t>{1, 1},
                                             {1, 2},
                                             {1, 1800},
                                             {2, 4095},
                                             {3, 4096},
                                             {3, 2311},
                                             {5, 4099},
                                             {6, 12289},
                                             {7, 13001}}) {
        const Data data = quarters(targets, sources, sources + targets);
        const Data got = run(kernel, data, targets, sources, engine);
        for (std::size_t t = 0; t < targets; ++t)
          for (const auto& [name, right] : loop_over(data, t)) {
            INFO(engine << (scheduled ? ", scheduled, " : ", ") << targets << " x " << sources
                        << ", target " << t << ": " << name << " is " << got.at(name)[t]
                        << " instead of " << right[0]);
            // Without a source that counts: the limits of an int.
            const bool is_int = name == "least" || name == "most";
            REQUIRE((got.at(name)[t] == right[0] || (is_int && std::isinf(right[0]))));
          }
      }
  }
}

TEST_CASE(
    "sums of integers that may wrap around in a PE have the values of the chip for few targets") {
  const Kernel kernel = Kernel::compile("VARI x; VARJ int k; VARF int n; VARF f; n += k; f += x;");
  for (const std::string& engine : engines()) {
    INFO(engine);
    Data data{{"x", {1, 2}}, {"k", {}}};
    for (std::size_t s = 0; s < 5001; ++s)
      data["k"].push_back(s % 3 == 0 ? -1e9 : 9e8 + static_cast<double>(s));
    CHECK(run(kernel, data, 2, 5001, engine).at("n") ==
          run(kernel, data, 2, 5001, "vector").at("n"));
  }
}

TEST_CASE(
    "lanes add up the sources of few targets alike with all threads and boards in every call") {
  for (const std::string& engine : engines())
    for (const std::size_t sources : {4099UL, 70001UL}) {
      INFO(engine << ", " << sources << " sources");
      const std::vector<double> x = random_numbers(2, 1), m = random_numbers(sources, 2);
      const std::vector<double> one = sums("threads=1,engine=" + engine, x, m);
      CHECK(sums("threads=1,engine=" + engine, x, m, 3) == one);
      CHECK(sums("threads=3,engine=" + engine, x, m, 40) == one);
      CHECK(sums("threads=2,boards=2,engine=" + engine, x, m, 2) == one);
      // Lanes with the same sources add in another order, where targets leave some lanes free.
      const std::vector<double> whole = sums("threads=1,partition=targets,engine=" + engine, x, m);
      const bool doubles = engine.starts_with("native,");
      const bool fill_a_vector = doubles && engine.ends_with("isa=neon");
      if (!fill_a_vector) CHECK(one != whole);
      for (std::size_t t = 0; t < x.size(); ++t)
        CHECK(std::abs(one[t] / whole[t] - 1) < (doubles ? 1e-13 : 1e-6));
    }
}

TEST_CASE("infinite numbers of one source reach the results of few targets as of many") {
  const double infinity = std::numeric_limits<double>::infinity();
  struct Law {
    std::string text;
    double large;  ///< a source among ones; the term of it
    double right;
  };
  const double ones = 4999;
  for (const std::string& engine : engines())
    for (const Law& law : {Law{"1/(m*x)", 0x1p900, ones}, Law{"m*rsqrt(m*x)", 1e200, ones + 1e100},
                           Law{"m*m*x", 1e200, infinity}, Law{"m*x", 1e30, 1e30 + ones},
                           Law{"m*m*x", 1e25, 1e50}, Law{"recip(m*m*x)", 1e-30, 1e60}}) {
      INFO(engine << ": " << law.text);
      Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
      Job job = device.job(Kernel::compile(
          "precision long; VARI x; VARJ m; VARF f, g; f += " + law.text + "; g += x;"));
      std::vector<double> m(5000, 1.0);
      m[1234] = law.large;
      const std::vector<double> x{1, 1, 1};
      std::vector<double> f(3), g(3);
      job.targets(3, {{"x", x.data()}});
      job.sources(m.size(), {{"m", m.data()}});
      job.run({{"f", f.data()}, {"g", g.data()}});
      for (std::size_t t = 0; t < 3; ++t) {
        CHECK(g[t] == 5000);
        if (std::isinf(law.right))
          CHECK(f[t] == law.right);
        else
          CHECK(std::abs(f[t] / law.right - 1) < 1e-4);
      }
    }
}

TEST_CASE("lanes without a target do not have runs of floats repeated in doubles") {
  const std::vector<double> x = random_numbers(5000, 1), y = random_numbers(5000, 2),
                            z = random_numbers(5000, 3), m(5000, 1e-3);
  std::vector<std::int64_t> id(5000), other(12, -7);
  for (std::size_t k = 0; k < id.size(); ++k) id[k] = static_cast<std::int64_t>(k);
  for (const std::string& engine : engines())
    for (const std::size_t targets : {1, 3, 7, 12})
      for (const std::size_t sources : {300, 5000}) {
        Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
        Job job = device.job(Kernel::builtin("gravity"));
        job.set("eps2", 1e-4);
        job.sources(sources, {{"xj", x.data()},
                              {"yj", y.data()},
                              {"zj", z.data()},
                              {"mj", m.data()},
                              {"idj", id.data()}});
        job.targets(targets,
                    {{"xi", y.data()}, {"yi", z.data()}, {"zi", x.data()}, {"idi", other.data()}});
        std::vector<double> ax(targets), ay(targets), az(targets), pot(targets);
        job.run({{"ax", ax}, {"ay", ay}, {"az", az}, {"pot", pot}});
        INFO(engine << ": " << targets << " x " << sources);
        CHECK(device.statistics().fallback_reason == "");
      }
}

TEST_CASE("few targets whose sources change from call to call have the results of each") {
  for (const std::string engine : {"native", "native-float"}) {
    Device device = Device::open("emulator:chips=1,threads=2,engine=" + engine);
    const Kernel kernel = Kernel::compile("VARI x; VARJ m; VARF f; f += m*x;");
    Job job = device.job(kernel), other = device.job(kernel);
    const std::vector<double> one{1};
    std::vector<double> f(1);
    std::mt19937_64 random(5);
    for (unsigned call = 0; call < 40; ++call) {
      // Of several numbers, so that they are at other places of the memory; two jobs in turns.
      std::vector<double> m(4000 + random() % 3 * 40000);
      double right = 0;
      for (double& x : m) right += x = static_cast<double>(random() % 64);
      Job& now = call % 3 == 2 ? other : job;
      now.sources(m.size(), {{"m", m.data()}});
      now.targets(1, {{"x", one.data()}});
      now.run({{"f", f.data()}});
      INFO(engine << ", call " << call << ", " << m.size() << " sources");
      REQUIRE(f[0] == right);
    }
  }
}

}  // namespace gdr::test
